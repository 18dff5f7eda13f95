package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestStartBlocksUntilTheNodeIsThere(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		link.SetLatency(50 * time.Millisecond)
		node := newNode(t, client, path, "up")
		wantNotThere(t, node, nodes.ErrNotStarted)
		began := time.Now()
		wantErr(t, node.Start(t.Context()))
		if waited := time.Since(began); waited < 200*time.Millisecond { // a create, and a look
			t.Errorf("Start returned after %v, want two round trips at the least", waited)
		}
		wantThere(t, server, client, node, "up")
		if got := string(node.Data()); got != "up" || node.Path() != path {
			t.Errorf("got %q at %q, want %q at %q", got, node.Path(), "up", path)
		}
		link.SetLatency(0)
		wantErr(t, node.Close())
		wantNode(t, server, path, "", 0)
		wantNotThere(t, node, nodes.ErrClosed)
	})
}

func TestStartOnAnEmptyPathIsOneCreateAndOneReadAndThenQuiet(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/services/web", "")
		client, _ := newClient(t, server)
		r := observe(t, server)
		node := start(t, client, path, "up")
		r.want(t, "create "+path, "getData "+path)
		time.Sleep(3 * time.Hour) // the session reads a watched node again, later and later
		r.take()
		time.Sleep(time.Hour)
		for _, request := range r.take() {
			if request != "getData "+path {
				t.Errorf("got the request %s, want none but the session's own reads", request)
			}
		}
		wantErr(t, node.Close())
		r.take()
		time.Sleep(time.Hour)
		r.want(t)
	})
}

func TestStartWithoutAServerFailsAndWorksLater(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		server.RefuseConnections(true)
		client, _ := newClientAt(t, server, "")
		node := newNode(t, client, path, "up")
		err := node.Start(t.Context())
		var unreachable *framework.ConnectError
		if !errors.As(err, &unreachable) {
			t.Fatalf("got %v, want a ConnectError", err)
		}
		wantNotThere(t, node, nodes.ErrNotStarted)
		wantErr(t, node.Set(t.Context(), nil), nodes.ErrNotStarted)
		server.RefuseConnections(false)
		wantErr(t, client.BlockUntilConnected(t.Context()))
		time.Sleep(time.Minute)
		wantNode(t, server, path, "", 0)
		wantErr(t, node.Start(t.Context()))
		wantThere(t, server, client, node, "up")
	})
}

func TestStartEndsWithItsContextAndNothingRemains(t *testing.T) {
	for name, fault := range map[string]func(server *zktest.Server, m zktest.Match) (proceed func()){
		"held":     (*zktest.Server).HoldRequest,
		"stalled":  (*zktest.Server).Stall,
		"answered": func(server *zktest.Server, m zktest.Match) func() { server.SwallowReply(m); return func() {} },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/services/web", "")
				client, _ := newClient(t, server)
				proceed := fault(server, zktest.Match{Op: zktest.OpCreate2})
				node := newNode(t, client, path, "up")
				wantErr(t, node.Start(within(t, time.Second)), context.DeadlineExceeded)
				wantNotThere(t, node, nodes.ErrNotStarted)
				proceed()
				time.Sleep(5 * sessionTimeout)
				wantNode(t, server, path, "", 0)
			})
		})
	}
}

func TestStartUnderAContextThatHasEndedCreatesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		node := newNode(t, client, path, "up")
		wantErr(t, node.Start(ctx), context.Canceled)
		time.Sleep(time.Minute)
		wantNode(t, server, path, "", 0)
		wantErr(t, node.Start(t.Context()))
		wantThere(t, server, client, node, "up")
	})
}

func TestCallsInTheWrongOrderAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := nodes.NewPersistentNode(client, path, nil)
		wantErr(t, node.Close(), nodes.ErrNotStarted)
		wantErr(t, node.Set(t.Context(), nil), nodes.ErrNotStarted)
		wantErr(t, node.Start(t.Context()))
		wantErr(t, node.Start(t.Context()), nodes.ErrStarted)
		wantErr(t, node.Close())
		wantErr(t, node.Close())
		wantErr(t, node.Set(t.Context(), nil), nodes.ErrClosed)
		wantErr(t, node.Start(t.Context()), nodes.ErrClosed)
		wantNotThere(t, node, nodes.ErrClosed)
		wantNode(t, server, path, "", 0)
	})
}

func TestTheConstructorAndSetCopyTheirDataAndDataReturnsACopy(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		data := []byte("up")
		node := nodes.NewPersistentNode(client, path, data)
		copy(data, "xx")
		copy(node.Data(), "yy")
		wantErr(t, node.Start(t.Context()))
		defer node.Close()
		wantThere(t, server, client, node, "up")
		data = []byte("on")
		wantErr(t, node.Set(t.Context(), data))
		copy(data, "xx")
		expire(t, server, client)
		wantThere(t, server, client, node, "on")
	})
}

func TestNilDataAreNoBytesWhateverTheClientsDefault(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server, framework.WithDefaultData([]byte("default")))
		node := nodes.NewPersistentNode(client, path, nil)
		wantErr(t, node.Start(t.Context()))
		defer node.Close()
		wantThere(t, server, client, node, "")
		wantErr(t, node.Set(t.Context(), []byte("x")))
		wantErr(t, node.Set(t.Context(), nil))
		wantThere(t, server, client, node, "")
	})
}

func TestANodeDeletedByHandIsMadeAgainAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up")
		var heard changes
		node.OnChange(heard.hear)
		for range 3 {
			began := time.Now()
			deleteNode(t, server, path)
			wantThere(t, server, client, node, "up")
			if waited := time.Since(began); waited > 0 {
				t.Errorf("the node was made again after %v, want at once", waited)
			}
			heard.want(t, false, true)
			time.Sleep(2 * time.Second)
		}
	})
}

// A step is a request of Start, Set or Close: the node is deleted right before, and right after.
func TestANodeDeletedByHandAtAnyStepIsThereAtTheEndOrGoneAfterClose(t *testing.T) {
	for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.Persistent} {
		for step := range 12 {
			t.Run(fmt.Sprint(mode, "/", step), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					makeNode(t, server, "/services/web", "")
					client, _ := newClient(t, server)
					count := 0
					t.Cleanup(server.Observe(func(request zktest.Request) {
						if request.Path != path {
							return
						}
						if count++; count == step {
							_ = server.Delete(path)
						}
					}))
					node := newNode(t, client, path, "1", withMode(mode)...)
					wantErr(t, node.Start(t.Context()))
					wantErr(t, node.Set(t.Context(), []byte("2")))
					time.Sleep(time.Second)
					if got, _ := server.Data(path); string(got) != "2" || !node.There() {
						t.Errorf("got the data %q, there %v; want %q, true", got, node.There(), "2")
					}
					wantErr(t, node.Close())
					wantNode(t, server, path, "", 0)
				})
			})
		}
	}
}
