package nodes_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

// The client's session ends by its own clock, and lives on at the server, which was restarted meanwhile. The next one
// has just begun when the node is closed: it has asked for nothing that was answered.
func TestCloseRemovesTheNodeOfTheSessionBefore(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		const path, timeout = "/services/a", 10 * time.Second
		server := zktest.New(t)
		link := server.NewLink()
		client, err := framework.NewClient("zk:2181", framework.WithDialer(link.DialContext), framework.WithSessionTimeout(timeout))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		node := nodes.NewPersistentNode(client, path, nil)
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		before, _ := server.Stat(path)
		link.Mute()
		time.Sleep(timeout / 2)
		server.Restart()
		time.Sleep(timeout/2 + time.Second)
		release := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Path: path})
		link.Heal()
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // the create is held
		if stat, _ := server.Stat(path); stat.EphemeralOwner != before.EphemeralOwner {
			t.Fatalf("got a node of session %#x, want that of %#x", stat.EphemeralOwner, before.EphemeralOwner)
		}
		time.AfterFunc(time.Second, release)
		if err := node.Close(); err != nil {
			t.Error(err)
		}
		if stat, there := server.Stat(path); there {
			t.Errorf("got a node of session %#x after Close, want none", stat.EphemeralOwner)
		}
	})
}
