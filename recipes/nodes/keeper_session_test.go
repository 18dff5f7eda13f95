package nodes_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestAfterAnExpiryTheNodeIsMadeAgainInTheNextSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up")
		var heard changes
		node.OnChange(heard.hear)
		executed := record(t, server, path)
		for range 3 {
			expire(t, server, client)
			wantThere(t, server, client, node, "up")
			heard.want(t, false, true)
			executed.want(t, "Deleted", "Created=up")
			time.Sleep(time.Minute)
		}
	})
}

func TestAfterAnExpiryWhileCutOffTheNodeIsMadeAgainWithTheConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "up")
		var heard changes
		node.OnChange(heard.hear)
		link.Cut()
		time.Sleep(sessionTimeout / 2)
		if !node.There() {
			t.Error("got not there, want there until the session is over")
		}
		heard.want(t)
		time.Sleep(time.Hour)
		wantNotThere(t, node)
		wantNode(t, server, path, "", 0)
		heard.want(t, false)
		link.Heal()
		time.Sleep(5 * time.Second)
		wantThere(t, server, client, node, "up")
		heard.want(t, true)
	})
}

// The client gives its session up after the timeout. The server ends it at the next tick, which comes late here.
func TestTheNodeOfTheFormerSessionIsReplacedInOneTransaction(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server, framework.WithSessionTimeout(2*time.Minute))
		node := start(t, client, path, "up")
		former := sessionOf(t, client)
		executed := record(t, server, path)
		link.Cut()
		<-former.Done()
		link.Heal()
		time.Sleep(5 * time.Second)
		executed.want(t, "Deleted,Created=up")
		wantThere(t, server, client, node, "up")
		time.Sleep(5 * time.Minute)
		executed.want(t)
		for _, s := range server.Sessions() {
			if s.ID == former.ID() {
				t.Fatal("the former session lives on, want it expired")
			}
		}
		wantThere(t, server, client, node, "up")
	}, zktest.WithTickTime(time.Minute))
}

func TestTheNodeOfTheFormerSessionIsReplacedWhateverAnswerIsLost(t *testing.T) {
	for name, fault := range map[string]func(server *zktest.Server){
		"multi":         func(server *zktest.Server) { server.DropRequest(zktest.Match{Op: zktest.OpMulti}) },
		"its answer":    func(server *zktest.Server) { server.DropReply(zktest.Match{Op: zktest.OpMulti}) },
		"throttled":     func(server *zktest.Server) { server.ThrottleRequest(zktest.Match{Op: zktest.OpMulti}) },
		"create":        func(server *zktest.Server) { server.DropRequest(zktest.Match{Op: zktest.OpCreate2}) },
		"create's":      func(server *zktest.Server) { server.DropReply(zktest.Match{Op: zktest.OpCreate2}) },
		"create's look": func(server *zktest.Server) { server.DropReply(zktest.Match{Op: zktest.OpExists, Path: path}) },
		"look":          func(server *zktest.Server) { server.DropReply(zktest.Match{Op: zktest.OpGetData, Path: path}) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				client, link := newClient(t, server, framework.WithSessionTimeout(2*time.Minute))
				node := start(t, client, path, "up")
				former := sessionOf(t, client)
				executed := record(t, server, path)
				link.Cut()
				<-former.Done()
				fault(server)
				link.Heal()
				time.Sleep(10 * time.Second)
				executed.wantNoGap(t)
				wantThere(t, server, client, node, "up")
			}, zktest.WithTickTime(time.Minute))
		})
	}
}

func TestTheNodeOfTheFormerSessionGetsTheNewestData(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server, framework.WithSessionTimeout(2*time.Minute))
		node := start(t, client, path, "1")
		former := sessionOf(t, client)
		executed := record(t, server, path)
		link.Cut()
		set := setSoon(t.Context(), node, "2")
		<-former.Done()
		link.Heal()
		wantErr(t, <-set)
		executed.want(t, "Deleted,Created=2")
		wantThere(t, server, client, node, "2")
	}, zktest.WithTickTime(time.Minute))
}

func TestTheNodeOfAPersistentNodeThatWasClosedWhileCutOffIsReplaced(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server, framework.WithSessionTimeout(2*time.Minute))
		first := start(t, client, path, "1")
		former := sessionOf(t, client)
		executed := record(t, server, path)
		link.Cut()
		<-former.Done()
		wantErr(t, first.Close())
		link.Heal()
		second := start(t, client, path, "2")
		executed.want(t, "Deleted,Created=2")
		wantThere(t, server, client, second, "2")
	}, zktest.WithTickTime(time.Minute))
}

func TestAClientThatIsClosedEndsTheKeeping(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up")
		var heard changes
		node.OnChange(heard.hear)
		wantErr(t, client.Close())
		wantNotThere(t, node, framework.ErrClosed)
		heard.want(t, false)
		wantNode(t, server, path, "", 0)
		wantErr(t, node.Set(t.Context(), nil), framework.ErrClosed)
		wantErr(t, node.Close())
		wantErr(t, nodes.NewPersistentNode(client, path, nil).Start(t.Context()), framework.ErrClosed)
	})
}

func TestAClientThatIsClosedEndsStartAndSetBehindAStrangersNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "other")
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "up")
		started, set := startSoon(t, node), setSoon(t.Context(), node, "2")
		wantPending(t, started)
		wantErr(t, client.Close())
		wantErr(t, <-started, framework.ErrClosed)
		if err := <-set; err == nil {
			t.Error("got no error from Set, want one")
		}
		wantNotThere(t, node, nodes.ErrNotStarted)
		wantNode(t, server, path, "other", 0)
	})
}

func TestANodeIsMadeAtARestoredServerThatLacksIt(t *testing.T) {
	for _, left := range []bool{false, true} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			restored := zktest.New(t)
			if left { // in the backup, without its session
				makeNode(t, restored, path, "up")
			}
			e := &exchange{link: server.NewLink()}
			client, _ := newClient(t, server, framework.WithDialer(e.DialContext))
			for range 100 {
				makeNode(t, server, "/x", "")
				deleteNode(t, server, "/x")
			}
			node := start(t, client, path, "up")
			e.to(restored.NewLink())
			time.Sleep(2 * time.Minute)
			if left {
				wantNotThere(t, node, nodes.ErrForeign)
				deleteNode(t, restored, path)
			}
			wantThere(t, restored, client, node, "up")
		})
	}
}
