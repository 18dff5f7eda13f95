package lockstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func timeLimits() []law {
	return []law{
		{name: "time limits/the error is the cause and the error of ctx", run: errorIsTheCauseAndTheContextsError},
		{name: "time limits/ctx ends while the node vanishes", run: contextEndsWhileTheNodeVanishes},
		{name: "time limits/Within waits that long", run: withinWaitsThatLong},
		{name: "time limits/Within gets what is released in time", run: withinGetsWhatIsReleasedInTime},
		{name: "time limits/Within and the caller's own end", run: withinYieldsToTheCallersOwnEnd},
		{name: "time limits/Within without a connection", run: withinReportsThatThereIsNoConnection},
		{name: "time limits/Within of no time is a try", run: withinOfNoTimeIsATry},
		{
			name: "time limits/Within does not bound a re-entry", run: withinDoesNotBoundAReentry,
			unless: func(r Recipe) string {
				if !r.Reentrant {
					return "it is not reentrant"
				}
				return ""
			},
		},
		{name: "time limits/a try ends within the connection timeout", run: tryEndsWithinTheConnectionTimeout},
	}
}

// notAcquired wants an error that is ErrNotAcquired, and neither the end of a context nor a lost connection.
func notAcquired(t testing.TB, err error) {
	t.Helper()
	var failed *locks.AcquireError
	if !errors.As(err, &failed) || !isNotAcquired(err) {
		t.Errorf("got %v, want an AcquireError that is ErrNotAcquired", err)
	}
	wantNone(t, err, context.Canceled, context.DeadlineExceeded, framework.ErrConnectionLost)
}

func withinWaitsThatLong(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	c := w.client()
	d := w.server.SessionTimeout() / 10
	begun := time.Now()
	_, err := locks.Within(c.lock(), d).Acquire(t.Context())
	w.took("Within", begun, d)
	notAcquired(t, err)
	w.untilGone("its node is gone", func() bool { return len(w.added(before)) == 0 })

	// The limit of the inner one passes first, then that of the outer one.
	for _, nested := range []locks.Lock{
		locks.Within(locks.Within(c.lock(), d), 3*d), locks.Within(locks.Within(c.lock(), 3*d), d),
	} {
		begun = time.Now()
		_, err = nested.Acquire(t.Context())
		w.took("one within the other", begun, d)
		notAcquired(t, err)
	}
	held.release(t)
}

func withinGetsWhatIsReleasedInTime(t testing.TB, w *world) {
	d := w.server.SessionTimeout() / 10
	w.tries(func() bool {
		held := w.client().fill()
		begun := time.Now()
		a := w.client().start(locks.Within(w.client().lock(), d))
		w.pass(d / 2)
		waits := !a.hasReturned()
		held.release(t)
		inTime := w.exact && time.Since(begun) < d*3/4
		a.returned()
		if a.err != nil && !inTime {
			return false // in real time the admission may have come too late
		}
		if !waits {
			t.Errorf("it should have waited, got %v, %v", a.lease, a.err)
		}
		lease := a.get()
		w.pass(d) // the limit does not bound the lease
		if err := lease.Err(); err != nil {
			t.Errorf("the lease ended with the limit: %v", err)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
		return true
	})
}

// The caller's own deadline is before the limit, or passes at the same moment; or the caller cancels.
func withinYieldsToTheCallersOwnEnd(t testing.TB, w *world) {
	held := w.client().fill()
	c := w.client()
	d := w.server.SessionTimeout() / 10
	later := 3 * d
	if !w.exact {
		later = 100 * d // longer than any stall
	}
	for _, limit := range []time.Duration{d, later} {
		for want, begin := range contextEnds(t.Context(), d) {
			if limit == d && want != context.DeadlineExceeded {
				continue // the two timers may fire in either order
			}
			begun := time.Now()
			ctx, cancel := begin()
			_, err := locks.Within(c.lock(), limit).Acquire(ctx)
			cancel()
			w.took("Within", begun, d)
			if !errors.Is(err, want) || !errors.Is(err, errStop) || isNotAcquired(err) {
				t.Errorf("limit %v, own end after %v: got %v, want %v and the cause", limit, d, err, want)
			}
		}
	}
	held.release(t)
}

func withinReportsThatThereIsNoConnection(t testing.TB, w *world) {
	w.record.Silent()
	c := w.client()
	d := w.server.SessionTimeout() / 20
	c.link.Cut()
	w.until("the client knows it", func() bool { return !c.State().IsConnected() })
	begun := time.Now()
	_, err := locks.Within(c.lock(), d).Acquire(t.Context())
	w.took("Within", begun, d)
	var unreachable *framework.ConnectError
	if !errors.As(err, &unreachable) {
		t.Errorf("got %v, want a ConnectError", err)
	}
	wantNone(t, err, context.Canceled, context.DeadlineExceeded, locks.ErrNotAcquired)
	c.link.Heal()
}

func withinOfNoTimeIsATry(t testing.TB, w *world) {
	for _, d := range []time.Duration{0, -1, -time.Hour} {
		lease, err := locks.Within(w.client().lock(), d).Acquire(t.Context())
		if err != nil {
			t.Fatalf("%v: %v", d, err)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}
	held := w.client().fill()
	c := w.client()
	c.link.Requests()
	for _, d := range []time.Duration{0, -1} {
		_, err := locks.Within(c.lock(), d).Acquire(t.Context())
		notAcquired(t, err)
	}
	if sent := c.link.Requests(); sent[Create] > 0 && !w.recipe.Composed {
		t.Errorf("a try that fails has sent %v", sent)
	}
	held.release(t)
}

func withinDoesNotBoundAReentry(t testing.TB, w *world) {
	lock := w.client().lock()
	lease, err := lock.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []time.Duration{-1, 0, 1} {
		for range 100 {
			inner, err := locks.Within(lock, d).Acquire(lease.Context(t.Context()))
			if err != nil {
				t.Fatalf("%v: %v", d, err)
			}
			if err := inner.Release(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// A try meets a server that does not answer, to the first request or to the creation of its node, or no server.
func tryEndsWithinTheConnectionTimeout(t testing.TB, w *world) {
	timeout := w.server.SessionTimeout() / 10
	var answer func()
	for _, situation := range []struct {
		name        string
		begin, over func(c *contact)
		detached    bool
	}{
		{"muted", func(c *contact) { c.link.Mute() }, func(c *contact) { c.link.Heal() }, false},
		{"the creation is answered late", func(c *contact) { answer = c.link.HoldReply(Create) }, func(*contact) { answer() }, false},
		{"cut", func(c *contact) {
			c.link.Cut()
			w.until("the client knows it", func() bool { return !c.State().IsConnected() })
		}, func(c *contact) { c.link.Heal() }, true},
	} {
		c := w.client(framework.WithConnectionTimeout(timeout))
		situation.begin(c)
		begun := time.Now()
		lease, err := c.lock().TryAcquire(t.Context())
		w.took(situation.name+": the try", begun, timeout)
		var failed *locks.AcquireError
		if !errors.As(err, &failed) {
			t.Fatalf("%s: got %v, %v, want an AcquireError", situation.name, lease, err)
		}
		var unreachable *framework.ConnectError
		if detached := errors.As(err, &unreachable); detached != situation.detached {
			t.Errorf("%s: %v", situation.name, err)
		}
		if !situation.detached && !errors.Is(err, framework.ErrConnectionLost) {
			t.Errorf("%s: got %v, want ErrConnectionLost", situation.name, err)
		}
		wantNone(t, err, context.Canceled, context.DeadlineExceeded, locks.ErrNotAcquired)
		situation.over(c)
		w.untilGone("no node is left", func() bool { return len(w.nodes()) == 0 })
	}
	w.client().hold() // the lock is free; and no creation above need have reached a slow server
}
