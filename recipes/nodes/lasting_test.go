package nodes_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

var persistent = withMode(framework.Persistent)

// wantKept checks a node that outlives sessions.
func wantKept(t *testing.T, server *zktest.Server, node *nodes.PersistentNode, data string) {
	t.Helper()
	wantNode(t, server, node.Path(), data, 0)
	if !node.There() || node.Err() != nil {
		t.Errorf("got there %v, error %v; want true and none", node.There(), node.Err())
	}
}

func TestAPersistentNodeOutlivesItsSessionsAndItsClientAndCloseDeletesIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		executed := record(t, server, path)
		node := start(t, client, path, "up", persistent...)
		var heard changes
		node.OnChange(heard.hear)
		expire(t, server, client)
		time.Sleep(time.Minute)
		wantKept(t, server, node, "up")
		heard.want(t)
		executed.want(t, "Created=up")
		wantErr(t, node.Close())
		executed.want(t, "Deleted")

		other, _ := newClient(t, server)
		left := start(t, other, path, "left", persistent...)
		wantErr(t, other.Close())
		for range 2 {
			wantErr(t, left.Close(), framework.ErrClosed)
		}
		wantNode(t, server, path, "left", 0)
	})
}

func TestAPersistentNodeThatIsDeletedWhileCutOffIsMadeAgain(t *testing.T) {
	for _, out := range []time.Duration{time.Second, time.Hour} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, link := newClient(t, server)
			node := start(t, client, path, "up", persistent...)
			var heard changes
			node.OnChange(heard.hear)
			link.Cut()
			deleteNode(t, server, path)
			time.Sleep(out)
			link.Heal()
			time.Sleep(5 * time.Second)
			wantKept(t, server, node, "up")
			heard.want(t, false, true)
			wantErr(t, node.Close())
			wantNode(t, server, path, "", 0)
		})
	}
}

func TestThePersistentNodeOfAPredecessorIsKeptWithNewData(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "1")
		before, _ := server.Stat(path)
		client, _ := newClient(t, server)
		executed := record(t, server, path)
		node := start(t, client, path, "2", persistent...)
		executed.want(t, "DataSet=2")
		wantKept(t, server, node, "2")
		if after, _ := server.Stat(path); after.Czxid != before.Czxid {
			t.Error("got another node, want the same with new data")
		}
		wantErr(t, server.SetData(path, []byte("other")))
		expire(t, server, client)
		wantKept(t, server, node, "other")
		wantErr(t, node.Close())
		wantNode(t, server, path, "", 0)
	})
}

func TestAPersistentNodeThatAnotherHasMadeAgainGetsTheDataAndCloseDeletesIt(t *testing.T) {
	for _, out := range []time.Duration{time.Second, time.Hour} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, link := newClient(t, server)
			node := start(t, client, path, "up", persistent...)
			link.Cut()
			deleteNode(t, server, path)
			makeNode(t, server, path, "other")
			time.Sleep(out)
			link.Heal()
			time.Sleep(5 * time.Second)
			wantKept(t, server, node, "up")
			wantErr(t, node.Close())
			wantNode(t, server, path, "", 0)
		})
	}
}

func TestStartOfAPersistentNodeThatFailsLeavesTheNodeOfAPredecessor(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "1")
		wantErr(t, server.SetACL(path, anyone(1)))
		client, _ := newClient(t, server)
		wantErr(t, newNode(t, client, path, "2", persistent...).Start(t.Context()), zk.ErrNoAuth)
		wantNode(t, server, path, "1", 0)
	})
}

func TestAPersistentNodeReplacesAnEphemeralOne(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		stranger, _ := newClient(t, server)
		for _, owner := range []*framework.Client{client, stranger} {
			makeEphemeral(t, owner, path, "1")
			node := start(t, client, path, "2", persistent...)
			wantKept(t, server, node, "2")
			wantErr(t, node.Close())
			wantNode(t, server, path, "", 0)
		}
	})
}

func TestCloseLeavesAnEphemeralNodeAtThePathOfAPersistentOne(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		stranger, _ := newClient(t, server)
		node := start(t, client, path, "up", persistent...)
		proceed := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Session: sessionOf(t, client).ID()})
		deleteNode(t, server, path)
		makeEphemeral(t, stranger, path, "other")
		closed := closeSoon(node)
		proceed()
		wantErr(t, <-closed)
		wantNode(t, server, path, "other", sessionOf(t, stranger).ID())
	})
}

func TestAPersistentNodeReplacesTheEphemeralNodeOfThisClient(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server, framework.WithSessionTimeout(2*time.Minute))
		first := start(t, client, path, "1")
		former := sessionOf(t, client)
		link.Cut()
		<-former.Done()
		wantErr(t, first.Close())
		link.Heal()
		node := start(t, client, path, "2", persistent...)
		wantKept(t, server, node, "2")
	}, zktest.WithTickTime(time.Minute))
}

// The server has executed the create, and says so to nothing: the node is this client's all the same.
func TestAPersistentNodeWhoseCreateIsNotAnsweredIsKnownAgain(t *testing.T) {
	create := zktest.Match{Op: zktest.OpCreate2, Path: path}
	for name, fault := range map[string]func(server *zktest.Server, link *zktest.Link){
		"request":  func(server *zktest.Server, _ *zktest.Link) { server.DropRequest(create) },
		"answer":   func(server *zktest.Server, _ *zktest.Link) { server.DropReply(create) },
		"throttle": func(server *zktest.Server, _ *zktest.Link) { server.ThrottleRequest(create) },
		"answer and a short outage": func(server *zktest.Server, link *zktest.Link) {
			dropAndCut(server, link, create, 8*time.Second)
		},
		"answer and the session": func(server *zktest.Server, link *zktest.Link) {
			dropAndCut(server, link, create, time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/services/web", "")
				client, link := newClient(t, server)
				fault(server, link)
				node := newNode(t, client, path, "1", persistent...)
				started := startSoon(t, node)
				set := setSoon(within(t, 5*time.Minute), node, "2")
				time.Sleep(3 * time.Minute)
				wantErr(t, <-started)
				wantErr(t, <-set)
				wantKept(t, server, node, "2")
				wantErr(t, node.Close())
				wantNode(t, server, path, "", 0)
			})
		})
	}
}

// dropAndCut drops the answer to a request, and cuts the link for some time.
func dropAndCut(server *zktest.Server, link *zktest.Link, m zktest.Match, out time.Duration) {
	server.DropReply(m)
	once := true
	server.Observe(func(r zktest.Request) {
		if once && r.Op == m.Op {
			once = false
			go func() {
				time.Sleep(time.Millisecond)
				link.Cut()
				time.Sleep(out)
				link.Heal()
			}()
		}
	})
}

func TestAPersistentNodeWhoseCreateIsNotAnsweredIsRemovedByClose(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/services/web", "")
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "1", persistent...)
		server.SwallowReply(zktest.Match{Op: zktest.OpCreate2, Path: path})
		started := startSoon(t, node)
		wantPending(t, started)
		wantErr(t, node.Close())
		wantErr(t, <-started, nodes.ErrClosed)
		wantNode(t, server, path, "", 0)
		makeNode(t, server, path, "1") // a successor's, with the same data
		wantErr(t, node.Close())
		wantNode(t, server, path, "1", 0)
	})
}

func TestThePersistentNodeOfAPredecessorIsRemovedByCloseIfTheAnswerToItsDataIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		makeNode(t, server, path, "0")
		node := newNode(t, client, path, "1", persistent...)
		server.SwallowReply(zktest.Match{Op: zktest.OpSetData, Path: path})
		started := startSoon(t, node)
		wantPending(t, started)
		wantNode(t, server, path, "1", 0)
		wantErr(t, node.Close())
		wantErr(t, <-started, nodes.ErrClosed)
		wantNode(t, server, path, "", 0)
	})
}
