package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func closeSoon(node *nodes.PersistentNode) (ended <-chan error) {
	done := make(chan error, 1)
	go func() { done <- node.Close() }()
	synctest.Wait()
	return done
}

func TestCloseBlocksUntilTheServerHasDeletedTheNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up")
		proceed := server.HoldRequest(zktest.Match{Op: zktest.OpDelete, Path: path})
		ended := closeSoon(node)
		wantPending(t, ended)
		wantNotThere(t, node, nodes.ErrClosed)
		second := closeSoon(node)
		wantPending(t, second)
		proceed()
		wantErr(t, <-ended)
		wantErr(t, <-second)
		wantNode(t, server, path, "", 0)
	})
}

// What Start waits for at that moment is held, swallowed or dropped, and Close comes.
func TestCloseWhileStartBlocksEndsItAndNothingRemains(t *testing.T) {
	create := zktest.Match{Op: zktest.OpCreate2, Path: path}
	none := func() {}
	for name, fault := range map[string]func(server *zktest.Server, link *zktest.Link) (proceed func()){
		"held":      func(server *zktest.Server, _ *zktest.Link) func() { return server.HoldRequest(create) },
		"stalled":   func(server *zktest.Server, _ *zktest.Link) func() { return server.Stall(create) },
		"swallowed": func(server *zktest.Server, _ *zktest.Link) func() { server.SwallowReply(create); return none },
		"delayed": func(server *zktest.Server, _ *zktest.Link) func() {
			server.DelayReply(create, time.Second)
			return none
		},
		"dropped": func(server *zktest.Server, _ *zktest.Link) func() {
			server.DropReply(create)
			server.RefuseConnections(true)
			return func() { server.RefuseConnections(false) }
		},
		"muted": func(_ *zktest.Server, link *zktest.Link) func() { link.Mute(); return link.Heal },
		"cut":   func(_ *zktest.Server, link *zktest.Link) func() { link.Cut(); return link.Heal },
		"a stranger's": func(server *zktest.Server, _ *zktest.Link) func() {
			_ = server.Create(path, nil)
			return func() { _ = server.Delete(path) }
		},
		"the look is held": func(server *zktest.Server, _ *zktest.Link) func() {
			return server.HoldRequest(zktest.Match{Op: zktest.OpGetData})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/services/web", "")
				client, link := newClient(t, server)
				proceed := fault(server, link)
				node := newNode(t, client, path, "up")
				started := startSoon(t, node)
				wantPending(t, started)
				closed := closeSoon(node)
				wantErr(t, <-started, nodes.ErrClosed)
				time.Sleep(100 * time.Millisecond)
				proceed()
				if err := <-closed; err != nil {
					wantErr(t, err, context.DeadlineExceeded)
				}
				time.Sleep(5 * sessionTimeout)
				wantNode(t, server, path, "", 0)
				wantErr(t, node.Start(t.Context()), nodes.ErrClosed)
			})
		})
	}
}

func TestCloseWhileStartWaitsForAServerEndsItAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		link.Cut()
		time.Sleep(time.Minute) // the session is over
		node := newNode(t, client, path, "up")
		started := startSoon(t, node)
		began := time.Now()
		wantErr(t, node.Close())
		wantErr(t, <-started, nodes.ErrClosed)
		if waited := time.Since(began); waited > 0 {
			t.Errorf("Close took %v, want no time", waited)
		}
	})
}

func TestCloseWhileTheNodeIsMadeAgainLeavesNothing(t *testing.T) {
	for name, fault := range map[string]func(*zktest.Server, zktest.Match) func(){
		"held": (*zktest.Server).HoldRequest, "stalled": (*zktest.Server).Stall,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				client, _ := newClient(t, server)
				node := start(t, client, path, "up")
				proceed := fault(server, zktest.Match{Op: zktest.OpCreate2, Path: path})
				deleteNode(t, server, path)
				closed := closeSoon(node)
				time.Sleep(100 * time.Millisecond)
				if name == "held" { // what is stalled may come later
					wantPending(t, closed)
				}
				proceed()
				wantErr(t, <-closed)
				time.Sleep(5 * sessionTimeout)
				wantNode(t, server, path, "", 0)
			})
		})
	}
}

func TestCloseInAnOutageEndsWithTheConnectionTimeoutAndTheNodeGoesLater(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "up")
		link.Cut()
		began := time.Now()
		wantErr(t, node.Close(), context.DeadlineExceeded)
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("Close took %v, want the connection timeout of 5 s", waited)
		}
		link.Heal()
		time.Sleep(2 * time.Second)
		wantNode(t, server, path, "", 0)
		wantErr(t, node.Close())
	})
}

func TestCloseInAnOutageThatOutlastsTheSessionReturnsAndTheServersRemoveTheNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "up")
		link.Cut()
		time.Sleep(sessionTimeout - time.Second) // less than the connection timeout is left
		wantErr(t, node.Close())
		time.Sleep(2 * time.Second)
		wantNode(t, server, path, "", 0)
		link.Heal()
	})
}

func TestCloseWithoutASessionReturnsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "up")
		link.Cut()
		time.Sleep(time.Hour)
		began := time.Now()
		wantErr(t, node.Close())
		if waited := time.Since(began); waited > 0 {
			t.Errorf("Close took %v, want no time", waited)
		}
		link.Heal()
		time.Sleep(time.Hour)
		wantNode(t, server, path, "", 0)
	})
}

func TestCloseWhoseDeleteIsRefusedFailsAndTheNodeGoesOnceItIsPermitted(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up")
		wantErr(t, server.SetACL("/services/web", zktest.ACL{Perms: 7, Scheme: "world", ID: "anyone"})) // not DELETE
		wantErr(t, node.Close(), zk.ErrNoAuth)
		wantNode(t, server, path, "up", sessionOf(t, client).ID())
		wantErr(t, server.SetACL("/services/web", zktest.ACL{Perms: 31, Scheme: "world", ID: "anyone"}))
		time.Sleep(2 * sessionTimeout)
		wantNode(t, server, path, "", 0)
	})
}

func TestCloseLeavesAStrangersNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		stranger, _ := newClient(t, server)
		node := start(t, client, path, "up")
		proceed := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Session: sessionOf(t, client).ID()})
		deleteNode(t, server, path)
		makeEphemeral(t, stranger, path, "up")
		proceed()
		wantErr(t, node.Close())
		time.Sleep(5 * sessionTimeout)
		wantNode(t, server, path, "up", sessionOf(t, stranger).ID())
	})
}

// The answer to the delete is lost, and the successor, which was waiting, takes the path in that moment.
func TestCloseWhoseAnswerIsLostLeavesTheNodeOfTheSuccessor(t *testing.T) {
	for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.Persistent} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, _ := newClient(t, server)
			other, _ := newClient(t, server)
			node := start(t, client, path, "up", withMode(mode)...)
			successor := newNode(t, other, path, "up")
			started := startSoon(t, successor)
			executed := record(t, server, path)
			for _, op := range []zktest.Op{zktest.OpDelete, zktest.OpMulti} {
				server.DropReply(zktest.Match{Op: op, Path: path})
			}
			closed := closeSoon(node)
			wantErr(t, <-started)
			wantErr(t, <-closed)
			time.Sleep(5 * sessionTimeout)
			executed.want(t, "Deleted", "Created=up")
			wantThere(t, server, other, successor, "up")
		})
	}
}

func TestCloseWhoseAnswerIsLostOrWhoseLookIsReturnsOnceTheNodeIsGone(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpExists, zktest.OpDelete} {
		for name, fault := range map[string]func(*zktest.Server, zktest.Match){
			"request": (*zktest.Server).DropRequest, "answer": (*zktest.Server).DropReply, "throttled": (*zktest.Server).ThrottleRequest,
		} {
			t.Run(op.String()+"/"+name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					client, _ := newClient(t, server)
					node := start(t, client, path, "up")
					fault(server, zktest.Match{Op: op, Path: path})
					wantErr(t, node.Close())
					wantNode(t, server, path, "", 0)
				})
			})
		}
	}
}
