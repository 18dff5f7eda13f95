package nodes_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestAListenerHearsEachChangeInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "up")
		var heard, late changes
		node.OnChange(heard.hear)
		wantErr(t, node.Start(t.Context()))
		heard.want(t, true)
		node.OnChange(late.hear)
		late.want(t)
		expire(t, server, client)
		deleteNode(t, server, path)
		time.Sleep(2 * time.Second)
		deleteNode(t, server, path)
		heard.want(t, false, true, false, true, false, true)
		late.want(t, false, true, false, true, false, true)
		wantErr(t, node.Set(t.Context(), []byte("2")))
		heard.want(t)
		wantErr(t, node.Close())
		heard.want(t)
	})
}

func TestAListenerHearsNothingOfAStrangersNodeBehindWhichStartWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, path, "other")
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "up")
		var heard changes
		node.OnChange(heard.hear)
		wantErr(t, node.Start(within(t, time.Second)), nodes.ErrForeign)
		started := startSoon(t, node)
		wantErr(t, server.SetData(path, []byte("x")))
		heard.want(t)
		deleteNode(t, server, path)
		wantErr(t, <-started)
		heard.want(t, true)
	})
}

func TestAListenerThatHasStoppedHearsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := start(t, client, path, "up")
		var heard changes
		stop := node.OnChange(heard.hear)
		expire(t, server, client)
		heard.want(t, false, true)
		stop()
		stop()
		expire(t, server, client)
		heard.want(t)
		wantErr(t, node.Close())
		node.OnChange(heard.hear)()
	})
}

func TestAListenerMayCloseTheNode(t *testing.T) {
	for name, mode := range map[string]framework.CreateMode{"ephemeral": framework.Ephemeral, "persistent": framework.Persistent} {
		for _, when := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					client, _ := newClient(t, server)
					node := newNode(t, client, path, "up", withMode(mode)...)
					closed := make(chan error, 2)
					node.OnChange(func(there bool) {
						if there == when {
							closed <- node.Close()
						}
					})
					started := startSoon(t, node)
					if !when {
						wantErr(t, <-started)
						deleteNode(t, server, path)
					}
					wantErr(t, <-closed)
					wantNode(t, server, path, "", 0)
					wantNotThere(t, node, nodes.ErrClosed)
				})
			})
		}
	}
}

func TestAListenerThatBlocksHoldsUpNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		node := newNode(t, client, path, "up")
		goOn := make(chan struct{})
		var heard, slow changes
		node.OnChange(func(there bool) {
			<-goOn
			slow.hear(there)
		})
		node.OnChange(heard.hear)
		wantErr(t, node.Start(t.Context()))
		expire(t, server, client)
		wantThere(t, server, client, node, "up")
		heard.want(t, true, false, true)
		slow.want(t)
		close(goOn)
		slow.want(t, true, false, true)
	})
}

func TestAListenerThatPanicsIsLoggedAndHearsTheNextChange(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var log warnings
		client, _ := newClient(t, server, log.option())
		node := newNode(t, client, path, "up")
		var heard changes
		node.OnChange(func(there bool) {
			heard.hear(there)
			panic("broken listener")
		})
		wantErr(t, node.Start(t.Context()))
		expire(t, server, client)
		heard.want(t, true, false, true)
		if n := log.count("a listener of a persistent node panicked: broken listener"); n != 3 {
			t.Errorf("%d panics were logged, want 3", n)
		}
	})
}

func TestANilListenerPanicsOnItsCallersGoroutine(t *testing.T) {
	defer func() {
		if got, want := recover(), "nodes: OnChange: the function is nil"; got != want {
			t.Errorf("got the panic %v, want %s", got, want)
		}
	}()
	nodes.NewPersistentNode(nil, path, nil).OnChange(nil)
}

// While the client is cut off, its node is deleted and a stranger's is created.
func TestAListenerHearsThatAnotherHadThePathBeforeItIsOverwritten(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		stranger, _ := newClient(t, server)
		node := start(t, client, path, "up", nodes.Overwriting())
		heard := &changes{}
		node.OnChange(heard.hear)
		link.Cut()
		time.Sleep(time.Second)
		deleteNode(t, server, path)
		makeEphemeral(t, stranger, path, "other")
		link.Heal()
		time.Sleep(5 * time.Second)
		wantThere(t, server, client, node, "up")
		heard.want(t, false, true)
	})
}
