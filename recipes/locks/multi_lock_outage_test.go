package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// The first part is held, the second is waited for, and no server answers when ctx ends: the removal of the first goes
// on in the background.
func TestMultiLockThatGivesUpInAnOutageReturnsAtOnce(t *testing.T) {
	for name, first := range map[string]func(p *peer) locks.Lock{
		"of locks":       func(p *peer) locks.Lock { return locks.NewInterProcessMutex(p.Client, "/first") },
		"of multi-locks": func(p *peer) locks.Lock { return locks.NewInterProcessMultiLockWithPaths(p.Client, []string{"/first"}) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p, other := newPeer(t, server), newPeer(t, server)
				held := acquire(t, other.mutex())
				ctx, cancel := context.WithCancel(t.Context())
				waiter := begin(ctx, t, locks.NewInterProcessMultiLock(first(p), p.mutex()))
				p.link.Mute()
				began := time.Now()
				cancel()
				r := <-waiter
				wantErr(t, r.err, context.Canceled)
				if waited := r.at.Sub(began); waited > 0 {
					t.Errorf("it returned after %v, want at once", waited)
				}
				p.link.Heal()
				time.Sleep(sessionTimeout)
				wantNodes(t, server, "/first", "", 0)
				release(t, held)
			})
		})
	}
}

// An outage that comes during the wait is waited out; one that was there before is an error.
func TestMultiLockWithoutAConnectionFails(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		p.link.Cut()
		time.Sleep(2 * sessionTimeout)
		r := soon(t, begin(t.Context(), t, locks.NewInterProcessMultiLock(p.mutex())))
		var unreachable *framework.ConnectError
		if !errors.As(r.err, &unreachable) {
			t.Errorf("got %v, %v, want a ConnectError", r.lease, r.err)
		}
		p.link.Heal()
	})
}
