package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
)

const limitPath = "/limits/a"

// A limited client has a semaphore whose limit stands in a node.
type limited struct {
	*peer
	*locks.InterProcessSemaphoreV2
	count *shared.SharedCount
}

func newLimited(t *testing.T, server *zktest.Server, seed int32) *limited {
	t.Helper()
	return followLimit(t, newPeer(t, server), limitPath, seed)
}

func followLimit(t *testing.T, p *peer, limitPath string, seed int32) *limited {
	t.Helper()
	l := &limited{peer: p, count: shared.NewSharedCount(p.Client, limitPath, seed)}
	must(t, l.count.Start(t.Context()))
	t.Cleanup(func() { _ = l.count.Close() })
	l.InterProcessSemaphoreV2 = locks.NewInterProcessSemaphoreV2WithCount(l.Client, path, l.count)
	return l
}

func (l *limited) setLimit(t *testing.T, limit int32) {
	t.Helper()
	must(t, l.count.SetCount(t.Context(), limit))
}

// Curator: testThreadedLeaseIncrease (CURATOR-75).
func TestRaisedLimitLetsWaitersInAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newLimited(t, server, 1), newLimited(t, server, 9)
		held := acquire(t, p)
		waiter := begin(t.Context(), t, other)
		isWaiting(t, waiter)
		begun := time.Now()
		p.setLimit(t, 2)
		r := <-waiter
		if took := r.at.Sub(begun); took > 0 {
			t.Errorf("it took %v", took)
		}
		release(t, r.must(t))
		release(t, held)
	})
}

func TestLoweredLimitTakesNoLeaseAway(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newLimited(t, server, 3)
		held := acquireN(t, p.InterProcessSemaphoreV2, 3)
		p.setLimit(t, 1)
		waiter := begin(t.Context(), t, p)
		for _, lease := range held {
			settle()
			isWaiting(t, waiter)
			if lease.Err() != nil {
				t.Error(lease.Err())
			}
			release(t, lease)
		}
		release(t, (<-waiter).must(t))
	})
}

// The limit sinks during a wait: what would have been enough by the old one is not by the new one.
func TestWaiterGoesByTheNewestLimit(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newLimited(t, server, 3), newLimited(t, server, 3)
		held := acquireN(t, p.InterProcessSemaphoreV2, 3)
		waiter := begin(t.Context(), t, other)
		p.setLimit(t, 2)
		settle()
		release(t, held[0])
		isWaiting(t, waiter)
		p.setLimit(t, 0)
		settle()
		release(t, held[1])
		release(t, held[2])
		isWaiting(t, waiter)
		_, err := p.TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		p.setLimit(t, 1)
		release(t, (<-waiter).must(t))
	})
}

// More leases than there are at the moment: there may be later.
func TestQuantityAboveALiveLimitWaitsUntilItIsRaised(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newLimited(t, server, 2), newLimited(t, server, 2)
		big := &several{InterProcessSemaphoreV2: other.InterProcessSemaphoreV2, n: 5}
		waiter := begin(t.Context(), t, big)
		for limit := range int32(5) {
			p.setLimit(t, limit)
			settle()
			isWaiting(t, waiter)
		}
		_, err := other.TryAcquireN(t.Context(), 9)
		wantErr(t, err, locks.ErrNotAcquired)
		p.setLimit(t, 5)
		(<-waiter).must(t)
		wantErr(t, locks.ReleaseAll(big.leases...))
		wantEmpty(t, server)
	})
}

// The limit is raised in every moment of an acquire: the news is never missed.
func TestRaisedLimitIsNeverMissed(t *testing.T) {
	for delay := range 40 {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p, other := newLimited(t, server, 1), newLimited(t, server, 1)
			held := acquire(t, p)
			settle()
			other.cable.SetLatency(oneWay)
			raise := time.AfterFunc(time.Duration(delay)*time.Millisecond, func() {
				wantErr(t, p.count.SetCount(t.Context(), 2))
			})
			defer raise.Stop()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			lease, err := other.Acquire(ctx)
			if err != nil {
				t.Fatalf("raised after %d ms: %v", delay, err)
			}
			release(t, lease)
			release(t, held)
			synctest.Wait()
		})
	}
}

func TestWaiterForALimitLeavesNoListener(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newLimited(t, server, 0)
		ctx, cancel := context.WithCancel(t.Context())
		waiter := begin(ctx, t, p)
		cancel()
		wantErr(t, (<-waiter).err, context.Canceled)
		p.setLimit(t, 1)
		release(t, acquire(t, p))
	})
}

func TestSemaphoreWithoutACountIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		if lease, err := locks.NewInterProcessSemaphoreV2WithCount(p.Client, path, nil).Acquire(t.Context()); err == nil {
			t.Errorf("got %v", lease)
		}
	})
}

// Such a count has its own seed, which the other clients know nothing of.
func TestSemaphoreOverACountThatIsNotFollowedIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newLimited(t, server, 1)
		held := acquire(t, other)
		count := shared.NewSharedCount(p.Client, limitPath, 5)
		s := locks.NewInterProcessSemaphoreV2WithCount(p.Client, path, count)
		refused := func(when string) {
			t.Helper()
			for _, acquire := range []func(context.Context) (*locks.Lease, error){s.Acquire, s.TryAcquire, locks.Within(s, time.Second).Acquire} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				lease, err := acquire(ctx)
				cancel()
				if !errors.Is(err, shared.ErrNotStarted) {
					t.Errorf("%s: got %v, %v, want ErrNotStarted", when, lease, err)
				}
			}
		}
		refused("not started")
		must(t, count.Start(t.Context()))
		_, err := s.TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		release(t, held)
		release(t, acquire(t, s))
		wantErr(t, count.Close())
		refused("closed")
	})
}

func TestANegativeLimitIsNamedAndLetsNobodyIn(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newLimited(t, server, 1)
		held := acquire(t, p)
		waiter := begin(t.Context(), t, p)
		settle()
		p.setLimit(t, -1)
		settle()
		const want = `locks: acquire "/locks/a": the semaphore's limit must not be negative: shared count at "/limits/a" (-1)`
		for _, acquire := range []func(context.Context) (*locks.Lease, error){p.Acquire, p.TryAcquire, locks.Within(p, time.Second).Acquire} {
			lease, err := acquire(t.Context())
			if err == nil || err.Error() != want || errors.Is(err, locks.ErrNotAcquired) {
				t.Errorf("got %v, %v, want %s", lease, err, want)
			}
		}
		release(t, held)
		settle()
		isWaiting(t, waiter) // it had begun to wait before
		p.setLimit(t, 1)
		release(t, (<-waiter).must(t))
	})
}
