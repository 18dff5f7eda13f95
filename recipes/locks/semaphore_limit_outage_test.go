package locks_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/sampletest"
)

// A lost connection, and a lost session, end no wait: the limit that was changed meanwhile counts afterwards.
func TestWaiterOutlastsAnOutageOfItsLimit(t *testing.T) {
	for _, outage := range []time.Duration{sessionTimeout / 5, time.Hour} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			s, other := newLimited(t, server, 1), newLimited(t, server, 1)
			held := acquire(t, other)
			waiter := begin(t.Context(), t, s)
			s.link.Cut()
			other.setLimit(t, 0)
			time.Sleep(outage)
			wantErr(t, s.count.Err())
			isWaiting(t, waiter)
			s.link.Heal()
			time.Sleep(time.Minute)
			release(t, held)
			settle()
			isWaiting(t, waiter) // by the new limit
			other.setLimit(t, 1)
			release(t, soon(t, waiter).must(t))
		})
	}
}

// All acquires go on when the client is connected again, and so does the following of the limit, which was lowered
// meanwhile: their listings may be answered before the count is looked at.
func TestAcquiresAfterAnOutageGoByTheLimitOfThen(t *testing.T) {
	times := sampletest.New(t).Scale(50, 3)
	for _, outage := range []time.Duration{sessionTimeout - time.Second, sessionTimeout + time.Second} {
		for range times {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				s, other := newLimited(t, server, 3), newLimited(t, server, 3)
				s.link.Cut()
				other.setLimit(t, 1)
				time.Sleep(outage)
				var holders atomic.Int32
				done := make(chan error, 3)
				for range cap(done) {
					go func() {
						lease, err := s.Acquire(t.Context())
						if err == nil {
							if n := holders.Add(1); n > 1 {
								t.Errorf("after an outage of %v: got %d leases under a limit of 1", outage, n)
							}
							time.Sleep(time.Minute)
							holders.Add(-1)
							err = lease.Release()
						}
						done <- err
					}()
				}
				settle()
				s.link.Heal()
				for range cap(done) {
					wantErr(t, <-done, nil)
				}
			})
		}
	}
}

// A raise counts as well: a try that was made in the outage is not refused by the limit of before.
func TestTryAfterAnOutageGoesByTheLimitOfThen(t *testing.T) {
	for range 20 {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			s, other := newLimited(t, server, 0), newLimited(t, server, 0)
			s.link.Cut()
			other.setLimit(t, 1)
			time.Sleep(sessionTimeout + time.Second)
			tried := make(chan result, 1)
			go func() {
				lease, err := s.TryAcquire(t.Context())
				tried <- result{lease: lease, err: err}
			}()
			settle()
			s.link.Heal()
			release(t, soon(t, tried).must(t))
		})
	}
}
