package nodes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/retry"
)

// rightBefore acts once, right before the server executes the first matching request.
func rightBefore(t *testing.T, server *zktest.Server, op zktest.Op, act func()) {
	t.Helper()
	var once sync.Once
	t.Cleanup(server.Observe(func(r zktest.Request) {
		if r.Op == op && r.Path == path {
			once.Do(act)
		}
	}))
}

// makeAnothers makes a node of another program.
func makeAnothers(t *testing.T, server *zktest.Server, data string, perms int32) {
	t.Helper()
	if err := server.Create(path, []byte(data)); err != nil {
		t.Error(err)
	}
	if err := server.SetACL(path, anyone(perms)); err != nil {
		t.Error(err)
	}
}

// This client looks: there is no node. Another program creates one, whose ACL does not give WRITE. This client's create
// is answered with zk.ErrNodeExists. It looks again, and its write is answered with zk.ErrNoAuth: Start fails.
func TestStartThatIsRefusedLeavesTheNodeThatAnotherHasCreatedRightBefore(t *testing.T) {
	for mode, op := range map[framework.CreateMode]zktest.Op{
		framework.Persistent: zktest.OpCreate2, framework.PersistentWithTTL: zktest.OpCreateTTL,
	} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/services/web", "")
			client, _ := newClient(t, server)
			rightBefore(t, server, op, func() { makeAnothers(t, server, "another's", 1) })
			opts := withMode(mode)
			if mode == framework.PersistentWithTTL {
				opts = append(opts, nodes.WithTTL(time.Hour))
			}
			wantErr(t, newNode(t, client, path, "up", opts...).Start(t.Context()), zk.ErrNoAuth)
			wantNode(t, server, path, "another's", 0)
		})
	}
}

// This client looks: there is no node. Another program creates one with the same data. This client's create is answered
// with zk.ErrNodeExists. It looks again, and ctx ends before the answer: Start fails, and nothing of it was executed.
func TestStartThatEndsBeforeItsSecondLookLeavesTheNodeThatAnotherHasCreatedRightBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/services/web", "")
		client, _ := newClient(t, server)
		rightBefore(t, server, zktest.OpCreate2, func() {
			makeAnothers(t, server, "up", 31)
			server.DelayReply(zktest.Match{Op: zktest.OpGetData, Path: path}, 2*time.Second)
		})
		wantErr(t, newNode(t, client, path, "up", persistent...).Start(within(t, time.Second)), context.DeadlineExceeded)
		wantNode(t, server, path, "up", 0)
	})
}

// This client looks: there is no node. Its create does not come to the server, and its connection ends. Another program
// creates the node. The next try of this client is answered with zk.ErrNodeExists. It looks, and ctx ends before the
// answer. The create may have been executed, by what this client knows, but the node has other data.
func TestStartThatEndsAfterALostCreateLeavesTheNodeThatAnotherHasCreatedMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/services/web", "")
		client, _ := newClient(t, server)
		server.DropRequest(zktest.Match{Op: zktest.OpCreate2, Path: path})
		rightBefore(t, server, zktest.OpCreate2, func() {
			makeAnothers(t, server, "another's", 31)
			server.DelayReply(zktest.Match{Op: zktest.OpGetData, Path: path}, 2*time.Second)
		})
		wantErr(t, newNode(t, client, path, "up", persistent...).Start(within(t, time.Second)), context.DeadlineExceeded)
		wantNode(t, server, path, "another's", 0)
	})
}

// This client looks: there is no node. Its create is executed, and the answer is lost with the connection. The next try
// is answered with zk.ErrNodeExists. It looks, and ctx ends before the answer: the node has the data of the create.
func TestStartThatEndsAfterTheLostAnswerToItsCreateRemovesItsNode(t *testing.T) {
	for perms, want := range map[int32][]string{zk.PermAll: {"Created=up", "Deleted"}, zk.PermAll &^ zk.PermDelete: {"Created=up"}} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/services/web", "")
			wantErr(t, server.SetACL("/services/web", anyone(perms)))
			var log warnings
			client, _ := newClient(t, server, log.option())
			server.DropReply(zktest.Match{Op: zktest.OpCreate2, Path: path})
			executed := record(t, server, path)
			rightBefore(t, server, zktest.OpCreate2, func() {
				server.DelayReply(zktest.Match{Op: zktest.OpGetData, Path: path}, 2*time.Second)
			})
			wantErr(t, newNode(t, client, path, "up", persistent...).Start(within(t, time.Second)), context.DeadlineExceeded)
			time.Sleep(2 * time.Second)
			executed.want(t, want...)
			if got := log.count("could not be removed"); got != 2-len(want) {
				t.Errorf("permissions %d: got %d warnings, want %d", perms, got, 2-len(want))
			}
		})
	}
}

// This client's create is executed, and its connection ends without the answer; so do the connections of all further
// tries, until the client gives up.
func TestStartThatEndsWithADisconnectErrorRemovesTheNodeThatItMayHaveCreated(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/services/web", "")
		inOneCreate := framework.WithRetryPolicy(retry.Forever(time.Second))
		client, _ := newClient(t, server, inOneCreate)
		server.DropReply(zktest.Match{Op: zktest.OpCreate2, Path: path})
		for i := range 1000 {
			server.DropRequest(zktest.Match{Op: zktest.OpCreate2, Path: path, Nth: i + 2})
			// The create that takes its place.
			server.DropRequest(zktest.Match{Op: zktest.OpCreate, Path: path, Nth: i + 1})
		}
		executed := record(t, server, path)
		var hungUp *framework.DisconnectError
		if err := newNode(t, client, path, "up", persistent...).Start(t.Context()); !errors.As(err, &hungUp) {
			t.Errorf("got %v, want a DisconnectError", err)
		}
		executed.want(t, "Created=up", "Deleted")
	})
}

// The node of a predecessor is there. This client's write is refused, or executed, and ctx ends before the answer. The
// sync of the removal comes after the write on the same connection: what the look after it shows is what became of it.
func TestStartThatEndsBeforeTheAnswerToItsWriteRemovesThePredecessorsNodeOnlyIfItWasWritten(t *testing.T) {
	for perms, want := range map[int32]string{zk.PermAll &^ zk.PermWrite: "predecessor's", zk.PermAll: ""} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, path, "predecessor's")
			wantErr(t, server.SetACL(path, anyone(perms)))
			client, _ := newClient(t, server)
			server.DelayReply(zktest.Match{Op: zktest.OpSetData, Path: path}, 2*time.Second)
			wantErr(t, newNode(t, client, path, "up", persistent...).Start(within(t, time.Second)), context.DeadlineExceeded)
			time.Sleep(2 * time.Second)
			wantNode(t, server, path, want, 0)
		})
	}
}

// The node of a predecessor is there. This client's write does not come to the server, and the network is down until
// after the end of ctx.
func TestStartThatEndsAfterALostWriteLeavesTheNodeOfAPredecessor(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "predecessor's")
		client, _ := newClient(t, server)
		server.DropRequest(zktest.Match{Op: zktest.OpSetData, Path: path})
		server.RefuseConnections(true) // the present one stays until then
		time.AfterFunc(2*time.Second, func() { server.RefuseConnections(false) })
		wantErr(t, newNode(t, client, path, "up", persistent...).Start(within(t, time.Second)), context.DeadlineExceeded)
		time.Sleep(time.Minute)
		wantNode(t, server, path, "predecessor's", 0)
	})
}

// The node of this client is deleted by hand, and its create is held up. Another program creates the node. Close comes
// before the create is answered.
func TestCloseLeavesTheLastingNodeThatAnotherHasCreatedInThePlaceOfADeletedOne(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up", persistent...)
		proceed := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Session: sessionOf(t, client).ID()})
		deleteNode(t, server, path)
		makeNode(t, server, path, "another's")
		closed := closeSoon(node)
		proceed()
		wantErr(t, <-closed)
		wantNode(t, server, path, "another's", 0)
	})
}

// The node of a predecessor is deleted, and another program creates one of the same version, right before this client's
// write: that is executed on the other node. The event is lost, so this client does not look again.
func TestCloseRemovesTheNodeThatItsWriteWasExecutedOn(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "predecessor's")
		client, _ := newClient(t, server)
		server.DropEvent(zktest.Match{Path: path})
		rightBefore(t, server, zktest.OpSetData, func() {
			if err := server.Delete(path); err != nil {
				t.Error(err)
			}
			makeAnothers(t, server, "another's", zk.PermAll)
		})
		node := start(t, client, path, "up", persistent...)
		wantNode(t, server, path, "up", 0)
		wantErr(t, node.Close())
		wantNode(t, server, path, "", 0)
	})
}

// Servers before 3.8.4 show the Stat of a node that may not be read.
func TestCloseRemovesALastingNodeThatMayNotBeReadIfItsCreateWasAnsweredAndSaysSoIfNot(t *testing.T) {
	for _, answered := range []bool{true, false} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/services/web", "")
			client, _ := newClient(t, server, framework.WithACLProvider(func(string) []zk.ACL { return zk.WorldACL(zk.PermAll &^ zk.PermRead) }))
			node := newNode(t, client, path, "up", persistent...)
			if answered {
				wantErr(t, node.Start(t.Context()))
				wantErr(t, node.Close())
				wantNode(t, server, path, "", 0)
				return
			}
			server.SwallowReply(zktest.Match{Op: zktest.OpCreate2, Path: path})
			started := startSoon(t, node)
			wantErr(t, node.Close(), zk.ErrNoAuth)
			wantErr(t, <-started, nodes.ErrClosed)
			wantNode(t, server, path, "up", 0)
		}, zktest.WithVersion("3.6"))
	}
}
