package locks_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// S7 does not hold: the server drops the event that a waiter waits for. It costs the waiter as long as it has waited,
// at least a session timeout, and no more.
func TestAWaiterOutlastsALostEvent(t *testing.T) {
	for _, recipe := range lockstest.Recipes() {
		for _, waited := range []time.Duration{time.Second, 5 * sessionTimeout} {
			t.Run(fmt.Sprintf("%s/after %v", recipe.Name, waited), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					a, b := newPeer(t, server), newPeer(t, server)
					rival := recipe.New
					if recipe.Rival != nil {
						rival = recipe.Rival
					}
					var held []*locks.Lease
					for range max(recipe.Capacity, 1) {
						held = append(held, acquire(t, rival(a.Client, path)))
					}
					settle()
					waiter := begin(t.Context(), t, recipe.New(b.Client, path))
					time.Sleep(waited)
					server.DropEvent(zktest.Match{Session: sessionID(t, b)})
					release(t, held[0])
					began := time.Now()
					isWaiting(t, waiter)
					release(t, soon(t, waiter).must(t))
					if cost := time.Since(began); cost > max(waited, sessionTimeout)*9/8 {
						t.Errorf("the lost event cost %v, want at most %v", cost, max(waited, sessionTimeout)*9/8)
					}
				})
			})
		}
	}
}

// The same for a holder: its node was removed by hand, or it is asked to leave, and the event is lost.
func TestAHolderOutlastsALostEvent(t *testing.T) {
	for name, news := range map[string]struct {
		happen func(t *testing.T, server *zktest.Server, other *peer, node string)
		heard  func(lease *locks.Lease) <-chan struct{}
	}{
		"removal": {
			func(t *testing.T, server *zktest.Server, _ *peer, node string) { remove(t, server, node) },
			(*locks.Lease).Done,
		},
		"request": {
			func(t *testing.T, _ *zktest.Server, other *peer, node string) { askToLeave(t, other, node) },
			(*locks.Lease).RevocationRequested,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p, other := newPeer(t, server), newPeer(t, server)
				lease := acquire(t, p.mutex())
				settle()
				server.DropEvent(zktest.Match{Session: sessionID(t, p)})
				news.happen(t, server, other, path+"/"+lease.NodeName())
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				select {
				case <-news.heard(lease):
				case <-ctx.Done():
				}
				if cost := time.Since(began); cost > sessionTimeout*9/8 || cost == 0 {
					t.Errorf("the lost event cost %v, want some time, at most %v", cost, sessionTimeout*9/8)
				}
				synctest.Wait()
			})
		})
	}
}
