package nodes_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

var sequentialModes = []framework.CreateMode{framework.EphemeralSequential, framework.PersistentSequential}

var sequentialName = regexp.MustCompile(`^/services/web/_c_[0-9a-f-]{36}-1\d{10}$`)

func TestASequentialNodeKeepsItsNameWhenItIsMadeAgain(t *testing.T) {
	for _, mode := range sequentialModes {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			client, link := newClient(t, server)
			node := newNode(t, client, path, "up", withMode(mode)...)
			if got := node.Path(); got != "" {
				t.Errorf("got the path %q before Start, want none", got)
			}
			wantErr(t, node.Start(t.Context()))
			name := node.Path()
			if !sequentialName.MatchString(name) {
				t.Errorf("got the path %q, want one of %v", name, sequentialName)
			}
			deleteNode(t, server, name)
			time.Sleep(2 * time.Second)
			expire(t, server, client)
			time.Sleep(2 * time.Second)
			link.Cut()
			time.Sleep(time.Hour)
			_ = server.Delete(name)
			link.Heal()
			time.Sleep(5 * time.Second)
			if all := server.Children("/services/web"); len(all) != 1 || "/services/web/"+all[0] != name || node.Path() != name {
				t.Errorf("got %q, and the path %s; want %s alone", all, node.Path(), name)
			}
			if !node.There() || node.Err() != nil {
				t.Errorf("got there %v, error %v; want true and none", node.There(), node.Err())
			}
			wantErr(t, node.Close())
			if all := server.Children("/services/web"); len(all) != 0 {
				t.Errorf("got %q, want none", all)
			}
		})
	}
}

func TestThereIsOneSequentialNodeWhateverIsLost(t *testing.T) {
	lost := map[string]func(*zktest.Server, zktest.Match){
		"request": (*zktest.Server).DropRequest, "answer": (*zktest.Server).DropReply, "throttled": (*zktest.Server).ThrottleRequest,
		"twice": func(server *zktest.Server, m zktest.Match) {
			server.DropReply(m)
			m.Nth = 2
			server.DropReply(m)
		},
	}
	for _, mode := range sequentialModes {
		for name, lose := range lost {
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					makeNode(t, server, "/services/web", "")
					client, _ := newClient(t, server)
					lose(server, zktest.Match{Op: zktest.OpCreate2})
					node := start(t, client, path, "up", withMode(mode)...)
					time.Sleep(5 * sessionTimeout)
					if all := server.Children("/services/web"); len(all) != 1 || "/services/web/"+all[0] != node.Path() {
						t.Errorf("got %q, want %s alone", all, node.Path())
					}
				})
			})
		}
	}
}

func TestStartOfASequentialNodeThatEndsLeavesNothing(t *testing.T) {
	for _, mode := range sequentialModes {
		for name, fault := range map[string]func(*zktest.Server, zktest.Match) func(){
			"held": (*zktest.Server).HoldRequest, "stalled": (*zktest.Server).Stall,
		} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					makeNode(t, server, "/services/web", "")
					client, _ := newClient(t, server)
					proceed := fault(server, zktest.Match{Op: zktest.OpCreate2})
					node := newNode(t, client, path, "up", withMode(mode)...)
					if err := node.Start(within(t, time.Second)); err == nil {
						t.Error("got no error, want the end of ctx")
					}
					proceed()
					time.Sleep(5 * sessionTimeout)
					if all := server.Children("/services/web"); len(all) != 0 {
						t.Errorf("got %q, want none", all)
					}
					wantErr(t, node.Start(t.Context()))
					if all := server.Children("/services/web"); len(all) != 1 || "/services/web/"+all[0] != node.Path() {
						t.Errorf("got %q, want %s alone", all, node.Path())
					}
				})
			})
		}
	}
}

// Its name is not known yet: there is nothing to look for but the node of the late creation, by its GUID.
func TestCloseOfASequentialNodeWhileItIsCreatedReturnsNilAndNothingRemains(t *testing.T) {
	for _, mode := range sequentialModes {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/services/web", "")
			client, _ := newClient(t, server)
			proceed := server.Stall(zktest.Match{Op: zktest.OpCreate2})
			node := newNode(t, client, path, "up", withMode(mode)...)
			started := startSoon(t, node)
			wantPending(t, started)
			closed := closeSoon(node)
			wantErr(t, <-started, nodes.ErrClosed)
			wantErr(t, <-closed)
			proceed()
			time.Sleep(5 * sessionTimeout)
			if all := server.Children("/services/web"); len(all) != 0 {
				t.Errorf("mode %v: got %q, want none", mode, all)
			}
		})
	}
}
