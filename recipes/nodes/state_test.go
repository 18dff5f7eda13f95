package nodes_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestCallsAtOneTimeEndAndTheNodeHasTheDataThatDataReturns(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		node := start(t, client, path, "0")
		var calls sync.WaitGroup
		for i := range 8 {
			calls.Go(func() {
				for j := range 20 {
					if err := node.Set(t.Context(), fmt.Append(nil, i, j)); err != nil {
						t.Errorf("got the error %v of Set, want none", err)
					}
					_ = fmt.Sprint(node, node.There(), node.Err(), node.Path())
					node.OnChange(func(bool) {})()
				}
			})
		}
		for range 10 {
			time.Sleep(time.Millisecond)
			link.Reset()
			_ = server.Delete(path)
		}
		calls.Wait()
		time.Sleep(5 * time.Second)
		wantThere(t, server, client, node, string(node.Data()))
	})
}

func TestCloseAtOneTimeWithOtherCallsEndsAllOfThem(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		link.SetLatency(time.Millisecond)
		node := nodes.NewPersistentNode(client, path, nil)
		var calls sync.WaitGroup
		for i := range 4 {
			calls.Go(func() {
				err := node.Start(t.Context())
				for err == nil || errors.Is(err, nodes.ErrStarted) || errors.Is(err, nodes.ErrNotStarted) {
					time.Sleep(time.Millisecond)
					err = node.Set(t.Context(), fmt.Append(nil, i))
				}
				if !errors.Is(err, nodes.ErrClosed) {
					t.Errorf("got the error %v, want %v", err, nodes.ErrClosed)
				}
			})
			calls.Go(func() {
				time.Sleep(20 * time.Millisecond)
				if err := node.Close(); err != nil {
					t.Errorf("got the error %v of Close, want none", err)
				}
			})
		}
		calls.Wait()
		wantNode(t, server, path, "", 0)
		link.SetLatency(0)
	})
}

func TestErrIsNilOnceTheStrangersNodeHasGoneAndTheNodeIsBeingMade(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		makeNode(t, server, path, "other")
		node := newNode(t, client, path, "up")
		started := startSoon(t, node)
		wantNotThere(t, node, nodes.ErrForeign)
		proceed := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2})
		deleteNode(t, server, path)
		wantNotThere(t, node)
		proceed()
		wantErr(t, <-started)
		wantThere(t, server, client, node, "up")
	})
}
