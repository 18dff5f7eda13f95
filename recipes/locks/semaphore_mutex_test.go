package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func semaphoreMutex(p *peer) *locks.InterProcessSemaphoreMutex {
	return locks.NewInterProcessSemaphoreMutex(p.Client, path)
}

func TestSemaphoreMutexIsNotReentrant(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, semaphoreMutex(p))
		ctx, cancel := context.WithTimeout(lease.Context(t.Context()), 5*time.Second)
		defer cancel()
		_, err := semaphoreMutex(p).Acquire(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		_, err = semaphoreMutex(p).TryAcquire(lease.Context(t.Context()))
		wantErr(t, err, locks.ErrNotAcquired)
		if lease.Err() != nil {
			t.Error(lease.Err())
		}
	})
}

// The advice to hand on the context of a lease is no help in a wait for a lock that is not reentrant.
func TestWaitForASemaphoreMutexGivesNoFalseAdvice(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		acquire(t, semaphoreMutex(p))
		begin(t.Context(), t, semaphoreMutex(p)) // at the gate
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := semaphoreMutex(p).Acquire(ctx)
		var failure *locks.AcquireError
		if !errors.As(err, &failure) || failure.OwnClient || failure.OwnLease || failure.Ahead == 0 {
			t.Errorf("%+v", failure)
		}
		_ = p.Close()
	})
}

func TestAnyGoroutineReleasesASemaphoreMutex(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		m := semaphoreMutex(p)
		lease := acquire(t, m)
		if !m.IsAcquiredInThisProcess() || semaphoreMutex(other).IsAcquiredInThisProcess() {
			t.Errorf("got acquired here: %t, at the other client: %t; want true, false",
				m.IsAcquiredInThisProcess(), semaphoreMutex(other).IsAcquiredInThisProcess())
		}
		waiter := begin(t.Context(), t, semaphoreMutex(other))
		released := make(chan error)
		go func() { released <- lease.Release() }()
		wantErr(t, <-released)
		next := (<-waiter).must(t)
		if next.FencingToken() <= lease.FencingToken() {
			t.Errorf("token %d after %d", next.FencingToken(), lease.FencingToken())
		}
		wantErr(t, lease.Release(), locks.ErrReleased)
		if next.Err() != nil {
			t.Errorf("a second release ended the next hold: %v", next.Err())
		}
		if participants, err := m.Participants(t.Context()); err != nil || len(participants) != 1 || participants[0].Token != next.FencingToken() {
			t.Errorf("%+v, %v", participants, err)
		}
	})
}

// On the wire it is a semaphore with one lease.
func TestSemaphoreMutexAndSemaphoreOfOneAreOneLock(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lease := acquire(t, semaphoreMutex(p))
		_, err := semaphore(other, 1).TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		release(t, lease)
		lease = acquire(t, semaphore(other, 1))
		_, err = semaphoreMutex(p).TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		release(t, lease)
		wantEmpty(t, server)
	})
}
