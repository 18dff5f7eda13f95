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

// try calls TryAcquireN on another goroutine.
func try(t *testing.T, s *locks.InterProcessSemaphoreV2) <-chan result {
	t.Helper()
	results := make(chan result, 1)
	ctx := context.WithoutCancel(t.Context())
	go func() {
		lease, err := s.TryAcquire(ctx)
		results <- result{lease, err, time.Now()}
	}()
	synctest.Wait()
	return results
}

// The acquire has returned, and its node at the gate is still there for a moment.
func TestTryRightAfterAnotherClientsAcquireGetsALease(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		first, second := newPeer(t, server), newPeer(t, server)
		open := server.HoldRequest(zktest.Match{Op: zktest.OpDelete, Path: gatePath + "/*"})
		held := acquire(t, semaphore(first, 2))
		tried := try(t, semaphore(second, 2))
		isWaiting(t, tried)
		open()
		release(t, soon(t, tried).must(t))
		release(t, held)
		wantEmpty(t, server)
	})
}

// The contender ahead has not made the node of its lease yet, nor their directory. It gets the last lease, or it goes.
func TestTryBehindAContenderAtTheGateFailsAsSoonAsNoLeaseIsFree(t *testing.T) {
	for _, limit := range []int{1, 2} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			first, second := newPeer(t, server), newPeer(t, server)
			proceed := server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Path: leasesPath + "/*"})
			leave := server.HoldRequest(zktest.Match{Op: zktest.OpDelete, Path: gatePath + "/*"})
			ahead := begin(t.Context(), t, semaphore(first, limit))
			tried := try(t, semaphore(second, limit))
			isWaiting(t, tried)
			begun := time.Now()
			proceed()
			held := soon(t, ahead).must(t)
			synctest.Wait()
			if limit == 1 {
				r := soon(t, tried)
				wantErr(t, r.err, locks.ErrNotAcquired)
				if took := r.at.Sub(begun); took > 0 {
					t.Errorf("it took %v", took)
				}
				leave()
			} else {
				isWaiting(t, tried)
				leave()
				release(t, soon(t, tried).must(t))
			}
			release(t, held)
			wantEmpty(t, server)
		})
	}
}

func TestTryBehindAContenderThatStaysAtTheGateEndsWithinTheConnectionTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		first, second := newPeer(t, server), newPeer(t, server, framework.WithConnectionTimeout(2*time.Second))
		open := server.HoldRequest(zktest.Match{Op: zktest.OpDelete, Path: gatePath + "/*"})
		held := acquire(t, semaphore(first, 2))
		begun := time.Now()
		_, err := semaphore(second, 2).TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired) // the server said who is ahead
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
		open()
		release(t, held)
		wantEmpty(t, server)
	})
}

func TestTryIsTriedAgainInTheNextSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		for _, lock := range []func(*peer) locks.Lock{
			func(p *peer) locks.Lock { return semaphore(p, 2) },
			func(p *peer) locks.Lock { return locks.NewInterProcessMutex(p.Client, "/m") },
		} {
			p := newPeer(t, server, framework.WithConnectionTimeout(sessionTimeout))
			session, err := p.Session(t.Context())
			must(t, err)
			server.HoldRequest(zktest.Match{Op: zktest.OpGetChildren2, Session: session.ID()}) // for ever
			time.AfterFunc(time.Second, func() { expire(server, session.ID()) })
			lease, err := lock(p).TryAcquire(t.Context())
			must(t, err)
			release(t, lease)
		}
	})
}
