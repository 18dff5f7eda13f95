package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestStartBehindAStrangersNodeWaitsAndTakesOverWithinARoundTrip(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "up") // the same data
		client, link := newClient(t, server)
		link.SetLatency(50 * time.Millisecond)
		node := newNode(t, client, path, "up")
		ended := startSoon(t, node)
		time.Sleep(time.Hour)
		wantPending(t, ended)
		wantNotThere(t, node, nodes.ErrForeign)
		before, _ := server.Stat(path)
		wantErr(t, server.Delete(path))
		time.Sleep(101 * time.Millisecond) // the event, and the create
		if after, exists := server.Stat(path); !exists || after.Czxid == before.Czxid {
			t.Errorf("got node %v of zxid %d after a round trip, want another than that of %d", exists, after.Czxid, before.Czxid)
		}
		wantErr(t, <-ended)
		link.SetLatency(0)
	})
}

func TestStartThatEndsBehindAStrangersNodeIsErrForeignAndNothingRemains(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "other")
		client, _ := newClient(t, server)
		executed := record(t, server, path)
		node := newNode(t, client, path, "up")
		wantErr(t, node.Start(within(t, time.Minute)), nodes.ErrForeign, context.DeadlineExceeded)
		wantNotThere(t, node, nodes.ErrNotStarted)
		if n := server.WatchCount(); n != 0 {
			t.Errorf("got %d watches, want none", n)
		}
		executed.want(t)
		deleteNode(t, server, path)
		time.Sleep(time.Hour)
		executed.want(t, "Deleted")
		wantErr(t, node.Start(t.Context()))
		wantThere(t, server, client, node, "up")
	})
}

// The node of a process that was killed has the same data. The servers remove it when its session expires.
func TestTheNodeOfAKilledPredecessorIsAwaitedAndReplacedByAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		predecessor, link := newClient(t, server)
		start(t, predecessor, path, "up")
		old := sessionOf(t, predecessor).ID()
		link.Cut()
		client, _ := newClient(t, server)
		executed := record(t, server, path)
		began := time.Now()
		node := start(t, client, path, "up")
		if waited := time.Since(began); waited < sessionTimeout/2 || waited > sessionTimeout+time.Second {
			t.Errorf("Start took %v, want until the expiry of the old session", waited)
		}
		executed.want(t, "Deleted", "Created=up")
		wantThere(t, server, client, node, "up")
		if id := sessionOf(t, client).ID(); id == old {
			t.Errorf("got the session %#x, want another", id)
		}
	})
}

func TestAStrangerThatTakesThePathBetweenLookAndCreateIsAwaited(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		stranger, _ := newClient(t, server)
		node := start(t, client, path, "up")
		var heard changes
		node.OnChange(heard.hear)
		proceed := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Session: sessionOf(t, client).ID()})
		deleteNode(t, server, path)
		makeEphemeral(t, stranger, path, "up")
		proceed()
		heard.want(t, false)
		wantNotThere(t, node, nodes.ErrForeign)
		time.Sleep(time.Hour)
		wantNode(t, server, path, "up", sessionOf(t, stranger).ID())
		wantErr(t, stranger.Close())
		wantThere(t, server, client, node, "up")
		heard.want(t, true)
	})
}

func TestOverwritingReplacesAStrangersEphemeralNodeInOneTransaction(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		stranger, _ := newClient(t, server)
		makeEphemeral(t, stranger, path, "other")
		client, _ := newClient(t, server)
		executed := record(t, server, path)
		node := start(t, client, path, "up", nodes.Overwriting())
		executed.want(t, "Deleted,Created=up")
		wantThere(t, server, client, node, "up")
	})
}

func TestOverwritingReplacesAStrangersPersistentNodeInOneTransaction(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "up")
		client, _ := newClient(t, server)
		executed := record(t, server, path)
		node := start(t, client, path, "up", nodes.Overwriting())
		executed.want(t, "Deleted,Created=up")
		wantThere(t, server, client, node, "up")
	})
}

func TestOverwritingANodeThatHasChildrenIsAnErrorUntilTheyGo(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path+"/child", "x")
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "up", nodes.Overwriting())
		wantErr(t, node.Start(t.Context()), zk.ErrNotEmpty)
		if !server.Exists(path + "/child") {
			t.Error("got no child, want it kept")
		}
		deleteNode(t, server, path+"/child")
		wantErr(t, node.Start(t.Context()))
		wantThere(t, server, client, node, "up")
	})
}

func TestOverwritingANodeThatChangesBetweenLookAndReplacementReplacesItAllTheSame(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "other")
		client, _ := newClient(t, server)
		times := 3
		t.Cleanup(server.Observe(func(request zktest.Request) {
			switch {
			case request.Op != zktest.OpMulti:
				return
			case times > 1:
				_ = server.SetData(path, []byte("changed"))
			case times == 1:
				_ = server.Delete(path)
			}
			times--
		}))
		node := start(t, client, path, "up", nodes.Overwriting())
		wantThere(t, server, client, node, "up")
	})
}

func TestTwoThatOverwriteEachOtherDoSoAboutOnceASecond(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		a, _ := newClient(t, server)
		b, _ := newClient(t, server)
		start(t, a, path, "a", nodes.Overwriting())
		start(t, b, path, "b", nodes.Overwriting())
		time.Sleep(10 * time.Second) // the first come sooner
		count := server.CountRequests(zktest.Match{Op: zktest.OpMulti, Path: path})
		time.Sleep(time.Minute)
		if n := count(); n < 60 || n > 4*60 {
			t.Errorf("got %d replacements in a minute, want one to four each second", n)
		}
	})
}

func TestAnEphemeralNodeThatThisClientMadeOtherwiseIsItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		makeEphemeral(t, client, path, "other")
		node := start(t, client, path, "up")
		wantThere(t, server, client, node, "up")
		synctest.Wait()
	})
}
