package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A contender can be admitted at any moment, and must have a session that is valid then: its watches alone do not renew
// that.
func TestAWaitingContenderKeepsItsSessionValid(t *testing.T) {
	for name, lock := range map[string]func(*peer) locks.Lock{
		"mutex":     func(p *peer) locks.Lock { return p.mutex() },
		"local":     func(p *peer) locks.Lock { return p.mutex().Retained() },
		"semaphore": func(p *peer) locks.Lock { return locks.NewInterProcessSemaphoreV2(p.Client, path, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				holder, waiter := newPeer(t, server, framework.WithSyncRenewal()), newPeer(t, server)
				held := acquire(t, lock(holder))
				waiting := begin(t.Context(), t, lock(waiter))
				before := server.Counts()[zktest.OpMulti]
				time.Sleep(10*sessionTimeout + sessionTimeout/8) // between two renewals
				if n := server.Counts()[zktest.OpMulti] - before; n < 39 || n > 41 {
					t.Errorf("the waiter was renewed by %d transactions in ten session timeouts, want 40", n)
				}
				time.Sleep(sessionTimeout / 16) // before the next renewal, which is due after an eighth
				release(t, held)
				soon(t, waiting).must(t)
				released := server.Counts()[zktest.OpMulti]
				synctest.Wait()
				if n := server.Counts()[zktest.OpMulti] - released; n > 0 {
					t.Errorf("the admission asked for %d more renewals", n)
				}
			})
		})
	}
}

// What a contender keeps up it must give up again, however its wait ends.
func TestAContenderThatLeftKeepsNothingRenewed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		holder, waiter := newPeer(t, server, framework.WithSyncRenewal()), newPeer(t, server)
		held := acquire(t, holder.mutex())
		ctx, cancel := context.WithTimeout(t.Context(), sessionTimeout)
		defer cancel()
		if _, err := waiter.mutex().Acquire(ctx); err == nil {
			t.Fatal("got a lock that another client holds, want an error")
		}
		release(t, held)
		release(t, acquire(t, waiter.mutex()))
		time.Sleep(2 * time.Second) // the view of an unused directory is dropped
		before := server.Counts()
		time.Sleep(10 * sessionTimeout)
		after := server.Counts()
		for _, op := range []zktest.Op{zktest.OpMulti, zktest.OpSync} {
			if n := after[op] - before[op]; n > 0 {
				t.Errorf("%d %v with nothing held", n, op)
			}
		}
	})
}

// The removal of its node takes the watch on that with it; the watch on the node ahead is taken off.
func TestAContenderThatGivesUpTakesOffTheWatchOnTheNodeAheadAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		ctx, cancel := context.WithCancel(t.Context())
		waiter := begin(ctx, t, newPeer(t, server).mutex())
		count := server.CountRequests(zktest.Match{Op: zktest.OpRemoveWatches})
		cancel()
		if r := soon(t, waiter); r.err == nil {
			t.Error("got a lock that another client holds, want an error")
		}
		time.Sleep(time.Second)
		if got := count(); got != 1 {
			t.Errorf("got %d watches taken off, want 1", got)
		}
		release(t, held)
	})
}
