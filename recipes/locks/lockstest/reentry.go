package lockstest

import (
	"errors"
	"testing"

	"github.com/gocurator/curator/recipes/locks"
)

func reentry() []law {
	return []law{
		{name: "re-entry/as deep as one likes", unless: notReentrant, run: theLastReleaseFreesTheLock},
		{name: "re-entry/costs nothing", unless: notReentrant, run: aReentryAsksNoServer},
		{name: "re-entry/not for strangers", run: whoHasNoLeaseContextIsAStranger},
		{name: "re-entry/not after the release", unless: notReentrant, run: aReleasedContextIsRefused},
	}
}

func notReentrant(r Recipe) string {
	if !r.Reentrant {
		return "it is not reentrant"
	}
	return ""
}

func theLastReleaseFreesTheLock(t testing.TB, w *world) {
	const depth = 4
	c := w.client()
	ctx := t.Context()
	var held leases
	for range depth {
		lease, err := c.rival().Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, lease)
		ctx = lease.Context(ctx)
	}
	waiter := w.client().queue()
	for _, i := range []int{2, 0, 3} { // in any order
		waiter.isWaiting()
		held[i : i+1].release(t)
	}
	waiter.isWaiting()
	held[1:2].release(t)
	waiter.get()
}

func aReentryAsksNoServer(t testing.TB, w *world) {
	c := w.client()
	lease := c.hold() // the watch on its node is set, which would be a request
	c.link.Requests()
	for range 10 {
		inner, err := c.lock().Acquire(lease.Context(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		if err := inner.Release(); err != nil {
			t.Error(err)
		}
	}
	if sent := c.link.Requests(); len(sent) > 0 {
		t.Errorf("it sent %v", sent)
	}
}

func whoHasNoLeaseContextIsAStranger(t testing.TB, w *world) {
	c := w.client()
	held := c.fill()
	waiter := c.queue()
	waiter.isWaiting()
	without := locks.WithoutLease(held[0].Context(t.Context()))
	if lease, err := c.lock().TryAcquire(without); !errors.Is(err, locks.ErrNotAcquired) {
		t.Errorf("TryAcquire without the lease: %v, %v", lease, err)
	}
	held.release(t)
	waiter.get()
}

func aReleasedContextIsRefused(t testing.TB, w *world) {
	c := w.client()
	lease := c.start(c.lock()).get()
	ctx := lease.Context(t.Context())
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	if again, err := c.lock().Acquire(ctx); !errors.Is(err, locks.ErrReleased) {
		t.Errorf("Acquire with a released lease's context: %v, %v", again, err)
	}
}
