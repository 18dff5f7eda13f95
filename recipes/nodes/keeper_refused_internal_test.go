package nodes

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// keepBeforeStart runs the keeper of a node that outlives sessions, with the data "new". No Start waits for it yet: it
// was delayed.
func keepBeforeStart(t *testing.T, server *zktest.Server, connect string, opts ...Option) (*PersistentNode, *keeper) {
	t.Helper()
	client, err := framework.NewClient(connect, framework.WithDialer(server.DialContext))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	n := NewPersistentNode(client, "/a", []byte("new"), append(opts, Overwriting())...)
	keeping, stop := context.WithCancel(t.Context())
	absolute, err := client.AbsolutePath("/a")
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{node: n, absolute: absolute, waiter: session.NewWaiter(), stop: stop, done: make(chan struct{}), late: -1}
	k.registry = session.Attach(client.Attachments(), func() *registry { return &registry{} })
	if err := n.begin(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	go k.run(keeping)
	t.Cleanup(func() { _ = k.end() })
	return n, k
}

func makePredecessors(t *testing.T, server *zktest.Server, data string, perms int32) {
	t.Helper()
	if err := server.Create("/a", []byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := server.SetACL("/a", zktest.ACL{Perms: perms, Scheme: "world", ID: "anyone"}); err != nil {
		t.Fatal(err)
	}
}

func wantData(t *testing.T, server *zktest.Server, want string) {
	t.Helper()
	if data, there := server.Data("/a"); !there || string(data) != want {
		t.Errorf("got data %q (there: %t), want %q", data, there, want)
	}
}

// The write is refused: Start is to fail with that, and has not woken yet. Then the write is permitted. A second try
// would be executed, and Start would have to remove the node of the predecessor.
func TestAKeeperThatWasRefusedTriesNoSecondTimeBeforeStartFails(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		makePredecessors(t, server, "of a predecessor", 1)
		_, k := keepBeforeStart(t, server, "any:2181", WithMode(framework.Persistent))
		time.Sleep(time.Minute)
		if err := server.SetACL("/a", zktest.ACL{Perms: 31, Scheme: "world", ID: "anyone"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := server.Counts()[zktest.OpSetData]; got != 1 {
			t.Errorf("got %d tries to write, want 1", got)
		}
		_ = k.end()
		wantData(t, server, "of a predecessor")
	})
}

// The session of Start is over, and the chroot is gone before the next: Start is to fail with that, and has not woken
// yet. Then the chroot is there again, with the node of a predecessor, which a try would write to.
func TestAKeeperWithoutAChrootTriesNothingBeforeStartFails(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		n, k := keepBeforeStart(t, server, "any:2181/a", WithMode(framework.Persistent))
		time.Sleep(time.Minute)
		for _, path := range []string{"/a", "/a/a"} {
			if err := server.Create(path, []byte("of a predecessor")); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if data, _ := server.Data("/a/a"); string(data) != "of a predecessor" || n.There() {
			t.Errorf("got data %q, there: %t, want the predecessor's and false", data, n.There())
		}
		_ = k.end()
		if !server.Exists("/a/a") {
			t.Error("got no node, want the predecessor's")
		}
	})
}
