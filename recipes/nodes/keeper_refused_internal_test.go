package nodes

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// Start has not woken yet: no try after the first may be cut off by its end.
func TestAKeeperThatWasRefusedTriesNoSecondTimeBeforeStartFails(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		if err := server.Create("/a", []byte("of a predecessor")); err != nil {
			t.Fatal(err)
		}
		if err := server.SetACL("/a", zktest.ACL{Perms: 1, Scheme: "world", ID: "anyone"}); err != nil {
			t.Fatal(err)
		}
		client, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		n := NewPersistentNode(client, "/a", []byte("new"), WithMode(framework.Persistent))
		keeping, stop := context.WithCancel(t.Context())
		k := &keeper{node: n, absolute: "/a", waiter: session.NewWaiter(), stop: stop, done: make(chan struct{}), late: -1}
		k.registry = session.Attach(client.Attachments(), func() *registry { return &registry{} })
		if err := n.begin(k); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Session(t.Context()); err != nil {
			t.Fatal(err)
		}
		go k.run(keeping)
		time.Sleep(time.Minute)
		if got := server.Counts()[zktest.OpSetData]; got != 1 {
			t.Errorf("got %d tries to write, want 1", got)
		}
		_ = k.end()
		if data, ok := server.Data("/a"); !ok || string(data) != "of a predecessor" {
			t.Errorf("got data %q (there: %t), want the predecessor's", data, ok)
		}
	})
}
