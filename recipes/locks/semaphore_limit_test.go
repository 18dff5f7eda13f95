package locks_test

import (
	"context"
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
	l := &limited{peer: newPeer(t, server)}
	l.count = shared.NewSharedCount(l.Client, limitPath, seed)
	if err := l.count.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.count.Close() })
	l.InterProcessSemaphoreV2 = locks.NewInterProcessSemaphoreV2WithCount(l.Client, path, l.count)
	return l
}

func (l *limited) setLimit(t *testing.T, limit int32) {
	t.Helper()
	if err := l.count.SetCount(t.Context(), limit); err != nil {
		t.Fatal(err)
	}
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

// The limit sinks while somebody waits: whoever has enough by the old one has not by the new one.
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
		if err := locks.ReleaseAll(big.leases...); err != nil {
			t.Error(err)
		}
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
				if err := p.count.SetCount(t.Context(), 2); err != nil {
					t.Error(err)
				}
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
