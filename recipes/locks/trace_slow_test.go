package locks_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/sampletest"
	"github.com/gocurator/curator/recipes/locks"
)

// hourly is a trace whose every function takes an hour, but for AcquireStart, which Acquire waits for.
func hourly(calls *atomic.Int64) locks.Option {
	wait := func() {
		calls.Add(1)
		time.Sleep(time.Hour)
	}
	return locks.WithTrace(locks.Trace{
		Waiting:             func(context.Context, locks.Waiting) { wait() },
		AcquireEnd:          func(context.Context, locks.AcquireEnd) { wait() },
		RevocationRequested: func(locks.RevocationRequested) { wait() },
		Released:            func(locks.Released) { wait() },
		Lost:                func(locks.Lost) { wait() },
	})
}

// An hourlyHandler takes an hour for each record.
type hourlyHandler struct{ slog.Handler }

func (hourlyHandler) Enabled(context.Context, slog.Level) bool { return true }

func (hourlyHandler) Handle(context.Context, slog.Record) error {
	time.Sleep(time.Hour)
	return nil
}

func TestUserCodeThatTakesAnHourDelaysNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var calls atomic.Int64
		p := newPeer(t, server,
			framework.WithLogger(slog.New(hourlyHandler{slog.DiscardHandler})),
			framework.WithStateListener(func(framework.StateChange) { time.Sleep(time.Hour) }))
		other := newPeer(t, server)
		held := acquire(t, other.mutex())

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begun := time.Now()
		_, err := p.mutex(hourly(&calls)).Acquire(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		if took := time.Since(begun); took != 100*time.Millisecond {
			t.Errorf("Acquire ended after %v, its context after 100ms", took)
		}

		release(t, held)
		begun = time.Now()
		lease := acquire(t, p.mutex(hourly(&calls)))
		if took := time.Since(begun); took != 0 {
			t.Errorf("Acquire of a free lock took %v", took)
		}
		waiter := begin(t.Context(), t, other.mutex())
		release(t, lease)
		next := soon(t, waiter)
		if took := next.at.Sub(begun); took != 0 {
			t.Errorf("the next one waited for %v", took)
		}
		release(t, next.must(t))

		lost := acquire(t, p.mutex(hourly(&calls)))
		ctx = lost.Context(t.Context())
		time.Sleep(sessionTimeout)
		p.link.Mute()
		<-lost.Done()
		<-ctx.Done() // another goroutine ends it, in the same instant of the bubble
		if late := time.Since(lost.ValidUntil()); late != 0 {
			t.Errorf("the lease and its context ended %v after the lease's time", late)
		}
		begun = time.Now()
		_ = p.Close()
		if took := time.Since(begun); took > 2*time.Second { // for the server, and for traces and the log
			t.Errorf("Close took %v", took)
		}
		synctest.Wait()
		if n := calls.Load(); n != 1 {
			t.Errorf("%d functions of the trace were called, want the first alone", n)
		}
		time.Sleep(10 * time.Hour)
		if n := calls.Load(); n != 1 {
			t.Errorf("%d functions of the trace were called, want none after Close", n-1)
		}
	})
}

// A loss is reported even if everything else is dropped.
func TestTraceDropsNoLoss(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		goOn := make(chan struct{})
		var ends, losses int
		trace := locks.WithTrace(locks.Trace{
			AcquireEnd: func(context.Context, locks.AcquireEnd) { <-goOn; ends++ },
			Lost:       func(locks.Lost) { losses++ },
		})
		leases := 1100 // more than the calls that are kept
		if sampletest.New(t).All() {
			leases = 2000
		}
		for i := range leases {
			acquire(t, locks.NewInterProcessMutex(p.Client, fmt.Sprintf("/locks/%d", i), trace))
			if i == 0 {
				synctest.Wait() // its call is no longer in the queue
			}
		}
		p.link.Cut()
		time.Sleep(2 * sessionTimeout)
		close(goOn)
		synctest.Wait()
		if want := 1 + 1024; ends != want || losses != leases {
			t.Errorf("got %d acquires and %d losses, want %d and %d", ends, losses, want, leases)
		}
	})
}
