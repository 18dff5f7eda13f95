package lockstest

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks"
)

// An attempt is an Acquire on its way.
type attempt struct {
	w       *world
	cancel  context.CancelFunc
	waiting chan locks.Waiting // the first of each wait
	done    chan struct{}
	lease   *locks.Lease // the result, valid after done
	err     error
	at      time.Time
}

// start begins to acquire on a goroutine of its own.
func (c *contact) start(lock locks.Lock) *attempt {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.w.t.Context()))
	return c.startWith(ctx, cancel, lock)
}

func (c *contact) startWith(ctx context.Context, cancel context.CancelFunc, lock locks.Lock) *attempt {
	a := &attempt{w: c.w, cancel: cancel, done: make(chan struct{})}
	c.w.attempts = append(c.w.attempts, a)
	go func() {
		defer close(a.done)
		a.lease, a.err = lock.Acquire(ctx)
		a.at = time.Now()
		if a.lease != nil && !c.w.exact {
			go c.guard(a.lease, c.link.present())
		}
	}()
	return a
}

// queue begins to acquire and returns when the contender's node stands in the queue and the contender waits for it.
func (c *contact) queue(opts ...locks.Option) *attempt {
	c.w.t.Helper()
	waiting := make(chan locks.Waiting, 64)
	opts = append(opts, locks.WithTrace(locks.Trace{Waiting: func(_ context.Context, w locks.Waiting) {
		select {
		case waiting <- w:
		default:
		}
	}}))
	a := c.start(c.lock(opts...))
	a.waiting = waiting
	a.waits()
	return a
}

// waits returns when the contender begins a wait, and says for whom it waits.
func (a *attempt) waits() locks.Waiting {
	a.w.t.Helper()
	select {
	case waiting := <-a.waiting:
		return waiting
	case <-a.done:
		a.w.t.Fatalf("it should wait, got %v, %v", a.lease, a.err)
	case <-a.w.patience():
		await.Fatalf(a.w.t, "the contender to wait; got neither a wait nor a return")
	}
	return locks.Waiting{}
}

// returned waits for the end of the acquire.
func (a *attempt) returned() {
	a.w.t.Helper()
	await.Receive(a.w.t, a.w.limit(), "Acquire to return", a.done)
}

// get waits for the lease.
func (a *attempt) get() *locks.Lease {
	a.w.t.Helper()
	a.returned()
	if a.err != nil {
		a.w.t.Fatal(a.err)
	}
	return a.lease
}

// fails waits for the acquire to fail with want.
func (a *attempt) fails(want error) {
	a.w.t.Helper()
	a.returned()
	if !errors.Is(a.err, want) {
		a.w.t.Fatalf("Acquire: %v, %v, want error %v", a.lease, a.err, want)
	}
}

// hasReturned reports whether the acquire has ended.
func (a *attempt) hasReturned() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// isWaiting fails the test if the acquire has ended.
func (a *attempt) isWaiting() {
	a.w.t.Helper()
	if a.hasReturned() {
		a.w.t.Fatalf("it should still wait, got %v, %v", a.lease, a.err)
	}
}

// letsIn releases what is held, and wants first to be let in, and next after it.
func (w *world) letsIn(held leases, first, next *attempt) {
	w.t.Helper()
	held.release(w.t)
	lease := first.get()
	if w.recipe.Capacity == 1 {
		next.isWaiting()
	}
	if err := lease.Release(); err != nil {
		w.t.Error(err)
	}
	next.get()
}
