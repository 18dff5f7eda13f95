package nodes_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

// The client's session has ended by its own clock, and lives on at the servers. The next one finds its node there. Then
// that session ends, and a successor takes the path, with a node of the same version. The client's server is behind,
// and shows the old node at the next look: a transaction that replaces that one would delete the successor's.
func TestReplaceLeavesASuccessorsNodeAtAServerThatIsBehind(t *testing.T) {
	for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.Persistent} {
		replaceAtAServerThatIsBehind(t, mode)
	}
}

func replaceAtAServerThatIsBehind(t *testing.T, mode framework.CreateMode) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		const path, timeout, lag = "/services/a", 10 * time.Second, 2 * time.Second
		ensemble := zktest.NewEnsemble(3)
		defer ensemble.Close()
		follower := ensemble.Server(1)
		link := follower.NewLink()
		client, err := framework.NewClient("zk:2181", framework.WithDialer(link.DialContext), framework.WithSessionTimeout(timeout))
		must(t, err)
		defer client.Close()
		node := nodes.NewPersistentNode(client, path, nil)
		must(t, node.Start(t.Context()))
		time.Sleep(time.Second)
		before, _ := ensemble.Leader().Stat(path)

		link.Mute()
		time.Sleep(timeout / 2)
		ensemble.Elect(2) // every session lives for another timeout
		time.Sleep(timeout/2 + time.Second)
		ensemble.Elect(0)
		ensemble.SetLag(1, lag)
		link.Heal()
		must(t, client.BlockUntilConnected(t.Context()))
		time.Sleep(lag / 4) // the leader has refused the create, and its answer is on the way
		if stat, _ := ensemble.Leader().Stat(path); stat.EphemeralOwner != before.EphemeralOwner || stat.EphemeralOwner == 0 {
			t.Fatalf("got a node of session %#x, want that of %#x", stat.EphemeralOwner, before.EphemeralOwner)
		}
		ensemble.Leader().ExpireSession(before.EphemeralOwner)
		other, err := framework.NewClient("zk:2181", framework.WithDialer(ensemble.Leader().DialContext))
		must(t, err)
		defer other.Close()
		if _, _, err := other.Create(t.Context(), path, []byte("successor"), framework.WithMode(mode)); err != nil {
			t.Fatal(err)
		}
		successor, _ := ensemble.Leader().Stat(path)
		time.Sleep(time.Minute)
		if stat, there := ensemble.Leader().Stat(path); !there || stat.Czxid != successor.Czxid {
			t.Errorf("got node %t of session %#x, want the successor's", there, stat.EphemeralOwner)
		}
		if node.There() {
			t.Error("got There, want a wait for the successor's node to go")
		}
	})
}
