package nodes_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

// What no client can promise: the session before ends between the look at its node and the transaction that replaces
// it, and within that round trip another client, which has waited for the path, creates its own.
func TestAStrangersNodeIsReplacedIfItComesBetweenTheLookAtAFormerOneAndTheTransaction(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		const path, timeout = "/services/a", 10 * time.Second
		server := zktest.New(t)
		link := server.NewLink()
		var programs [2]*nodes.PersistentNode
		for i, dialer := range []*zktest.Link{link, server.NewLink()} {
			client, err := framework.NewClient("zk:2181", framework.WithDialer(dialer.DialContext), framework.WithSessionTimeout(timeout))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			programs[i] = nodes.NewPersistentNode(client, path, []byte{byte(i)})
			defer programs[i].Close()
		}
		if err := programs[0].Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		started := make(chan error, 1)
		go func() { started <- programs[1].Start(t.Context()) }()
		former, _ := server.Stat(path)
		link.Mute()
		time.Sleep(timeout / 2)
		server.Restart()
		time.Sleep(timeout/2 + time.Second)
		release := server.HoldRequest(zktest.Match{Op: zktest.OpMulti, Path: path})
		link.Heal()
		time.Sleep(time.Second) // the transaction is held
		server.ExpireSession(former.EphemeralOwner)
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		release()
		time.Sleep(time.Second)
		if data, _ := server.Data(path); string(data) != "\x00" || programs[1].There() || !programs[0].There() {
			t.Errorf("got the node with %q, there: %t and %t; want the first program's", data, programs[0].There(), programs[1].There())
		}
	})
}
