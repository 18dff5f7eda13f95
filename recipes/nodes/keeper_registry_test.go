package nodes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestTwoPersistentNodesOfOneClientAtOnePathAreRefusedUntilTheFirstIsClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server, framework.WithNamespace("services"))
		first := start(t, client, "/web/1", "1")
		for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.Persistent} {
			second := newNode(t, client.NonNamespaceView(), path, "2", withMode(mode)...)
			wantErr(t, second.Start(t.Context()), nodes.ErrKept)
			wantNotThere(t, second, nodes.ErrNotStarted)
			if data, _ := server.Data(path); string(data) != "1" || !first.There() {
				t.Errorf("got %q, there %v; want %q, true", data, first.There(), "1")
			}
		}
		wantErr(t, first.Close())
		second := start(t, client.NonNamespaceView(), path, "2")
		wantThere(t, server, client, second, "2")
		wantErr(t, first.Close())
		wantErr(t, newNode(t, client, "/web/1", "").Start(t.Context()), nodes.ErrKept)
	})
}

func TestAPathIsFreeAfterAStartThatFailed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "other")
		client, link := newClient(t, server)
		wantErr(t, newNode(t, client, path, "1").Start(within(t, time.Second)), nodes.ErrForeign)
		link.Cut()
		if err := newNode(t, client, path, "2").Start(within(t, time.Second)); err == nil {
			t.Error("got no error without a connection, want one")
		}
		link.Heal()
		deleteNode(t, server, path)
		node := start(t, client, path, "3")
		wantThere(t, server, client, node, "3")
	})
}

// A server that stands still executes the creates when it goes on: both Starts that have failed are taken back then.
func TestAStartBehindOneThatFailedWaitsUntilTheNodeIsRemoved(t *testing.T) {
	for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.EphemeralSequential, framework.Persistent} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/services/web", "")
				client, link := newClient(t, server)
				link.SetLatency(10 * time.Millisecond)
				node := newNode(t, client, path, "1", withMode(mode)...)
				server.Freeze()
				for range 2 {
					wantErr(t, node.Start(within(t, time.Second)), context.DeadlineExceeded)
				}
				wantErr(t, node.Err(), nodes.ErrNotStarted)
				var heard changes
				node.OnChange(heard.hear)
				started := startSoon(t, node)
				time.Sleep(time.Second)
				wantPending(t, started)
				server.Unfreeze()
				wantErr(t, <-started)
				time.Sleep(time.Minute)
				heard.want(t, true)
				if got := server.Children("/services/web"); len(got) != 1 || !node.There() || node.Err() != nil {
					t.Errorf("got the nodes %q, there: %t, error %v; want one, true, none", got, node.There(), node.Err())
				}
				wantErr(t, node.Close())
				if got := server.Children("/services/web"); len(got) != 0 {
					t.Errorf("after Close got the nodes %q, want none", got)
				}
			})
		})
	}
}

// The removal of the first one's node goes on in the background. It must not hit the second one's.
func TestANodeThatFollowsOneWhoseRemovalGoesOnIsKept(t *testing.T) {
	for name, fault := range map[string]func(*zktest.Server, zktest.Match) func(){
		"held":  (*zktest.Server).HoldRequest,
		"stall": (*zktest.Server).Stall,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				client, _ := newClient(t, server)
				first := start(t, client, path, "1")
				proceed := fault(server, zktest.Match{Op: zktest.OpDelete, Path: path})
				closed := closeSoon(first)
				second := newNode(t, client, path, "2")
				started := startSoon(t, second)
				time.Sleep(time.Second)
				proceed()
				wantErr(t, <-closed)
				wantErr(t, <-started)
				for range 100 {
					time.Sleep(sessionTimeout / 10)
					wantThere(t, server, client, second, "2")
				}
			})
		})
	}
}

func TestSequentialNodesOfOneClientShareAPath(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		for range 3 {
			start(t, client, path, "1", nodes.WithMode(framework.EphemeralSequential))
		}
		if n := len(server.Children("/services/web")); n != 3 {
			t.Errorf("got %d nodes, want 3", n)
		}
	})
}
