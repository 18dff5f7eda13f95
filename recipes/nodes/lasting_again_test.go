package nodes_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestCloseOfAPersistentNodeThatIsRefusedLeavesItToALaterOne(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up", persistent...)
		makeNode(t, server, path+"/child", "")
		wantErr(t, node.Close(), zk.ErrNotEmpty)
		deleteNode(t, server, path+"/child")
		wantErr(t, node.Close(), zk.ErrNotEmpty)
		wantNode(t, server, path, "up", 0)
		wantErr(t, start(t, client, path, "up", persistent...).Close())
		wantNode(t, server, path, "", 0)
	})
}

func TestCloseOfAPersistentNodeInAnOutageEndsWithTheConnectionTimeoutAndLeavesItToALaterOne(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "up", persistent...)
		link.Cut()
		began := time.Now()
		if err := node.Close(); err == nil {
			t.Error("got no error, want one")
		}
		if waited := time.Since(began); waited > 5*time.Second {
			t.Errorf("Close took %v, want at most the connection timeout of 5 s", waited)
		}
		link.Heal()
		time.Sleep(5 * time.Second)
		wantErr(t, start(t, client, path, "up", persistent...).Close())
		wantNode(t, server, path, "", 0)
	})
}

func TestCloseOfAPersistentNodeAgainLeavesTheNodeOfASuccessor(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up", persistent...)
		wantErr(t, node.Close())
		makeNode(t, server, path, "up")
		wantErr(t, node.Close())
		wantNode(t, server, path, "up", 0)
	})
}

// A successor's node has come after the look that found the one of this client.
func TestCloseOfAPersistentNodeDeletesOnlyTheVersionThatItHasSeen(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up", persistent...)
		wantErr(t, node.Set(t.Context(), []byte("more")))
		proceed := server.HoldRequest(zktest.Match{Op: zktest.OpMulti, Path: path})
		closed := closeSoon(node)
		deleteNode(t, server, path)
		makeNode(t, server, path, "successor's")
		proceed()
		wantErr(t, <-closed)
		wantNode(t, server, path, "successor's", 0)
	})
}

// Start cannot remove what it has created, since there is no connection.
func TestStartAgainKnowsTheLastingNodeThatAnEarlierOneHasLeft(t *testing.T) {
	for _, mode := range []framework.CreateMode{framework.Persistent, framework.PersistentSequential, framework.PersistentWithTTL} {
		for _, lost := range []zktest.Op{zktest.OpCreate2, zktest.OpCreateTTL, zktest.OpGetData} {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/services/web", "")
				client, link := newClient(t, server)
				opts := withMode(mode)
				if mode == framework.PersistentWithTTL {
					opts = append(opts, nodes.WithTTL(time.Hour))
				}
				node := newNode(t, client, path, "1", opts...)
				dropAndCut(server, link, zktest.Match{Op: lost}, time.Minute)
				err := node.Start(within(t, time.Second))
				time.Sleep(2 * time.Minute)
				if err != nil {
					wantErr(t, node.Start(t.Context()))
				}
				if all := server.Children("/services/web"); len(all) != 1 || "/services/web/"+all[0] != node.Path() || !node.There() {
					t.Errorf("mode %v: got %q, there %v; want %s alone, and true", mode, all, node.There(), node.Path())
				}
				wantErr(t, node.Close())
				if all := server.Children("/services/web"); len(all) != 0 {
					t.Errorf("mode %v: got %q, want none", mode, all)
				}
			})
		}
	}
}

// The answer to the delete is lost, and a successor, which was waiting, makes its node in that moment.
func TestCloseOfAPersistentNodeWhoseAnswerIsLostLeavesTheNodeOfASuccessor(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up", persistent...)
		waits := true
		t.Cleanup(server.ObserveTransactions(func(transaction zktest.Transaction) {
			if waits && transaction.Changes[0].Kind == zktest.Deleted {
				waits = false
				go func() { _ = server.Create(path, []byte("successor's")) }()
			}
		}))
		server.DropReply(zktest.Match{Op: zktest.OpMulti, Path: path})
		wantErr(t, node.Close())
		wantNode(t, server, path, "successor's", 0)
	})
}

// As above, and the next server is behind: it still shows the node that is deleted already. The successor's has the
// same version.
func TestCloseOfAPersistentNodeWhoseAnswerIsLostLeavesTheNodeOfASuccessorAtAServerThatIsBehind(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ensemble := zktest.NewEnsemble(3)
		defer ensemble.Close()
		leader, follower := ensemble.Leader(), ensemble.Server(1)
		way := &exchange{link: leader.NewLink()}
		client, err := framework.NewClient("zk:2181", framework.WithDialer(way.DialContext), framework.WithSessionTimeout(sessionTimeout))
		wantErr(t, err)
		defer client.Close()
		node := nodes.NewPersistentNode(client, path, []byte("up"), persistent...)
		wantErr(t, node.Start(t.Context()))
		time.Sleep(time.Second) // the follower has it
		ensemble.SetLag(1, 2*time.Second)
		waits := true
		t.Cleanup(leader.ObserveTransactions(func(transaction zktest.Transaction) {
			if waits && transaction.Changes[0].Kind == zktest.Deleted {
				waits = false
				go func() {
					_ = leader.Create(path, []byte("successor's"))
					way.to(follower.NewLink())
				}()
			}
		}))
		leader.SwallowReply(zktest.Match{Op: zktest.OpMulti, Path: path})
		wantErr(t, node.Close())
		time.Sleep(time.Minute)
		wantNode(t, leader, path, "successor's", 0)
	})
}
