package lockstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// ends are how a context can end, by its Err.
func contextEnds(parent context.Context, d time.Duration) map[error]func() (context.Context, context.CancelFunc) {
	return map[error]func() (context.Context, context.CancelFunc){
		context.DeadlineExceeded: func() (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(parent, d, errStop)
		},
		context.Canceled: func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(parent)
			timer := time.AfterFunc(d, func() { cancel(errStop) })
			return ctx, func() { timer.Stop(); cancel(nil) }
		},
	}
}

// A context can end behind a holder, before there is a connection, and while the server does not answer.
func errorIsTheCauseAndTheContextsError(t testing.TB, w *world) {
	held := w.client().fill()
	c := w.client()
	d := w.server.SessionTimeout() / 20
	for _, situation := range []struct {
		name        string
		begin, over func()
	}{
		{"behind a holder", func() {}, func() {}},
		{"no connection", c.link.Cut, c.link.Heal},
	} {
		situation.begin()
		for want, begin := range contextEnds(t.Context(), d) {
			ctx, cancel := begin()
			lease, err := c.lock().Acquire(ctx)
			cancel()
			var failed *locks.AcquireError
			if !errors.As(err, &failed) || !errors.Is(err, want) || !errors.Is(err, errStop) {
				t.Errorf("%s: got %v, %v, want an AcquireError that is %v and the cause", situation.name, lease, err, want)
			}
			for _, other := range []error{context.Canceled, context.DeadlineExceeded, locks.ErrNotAcquired} {
				if other != want && errors.Is(err, other) {
					t.Errorf("%s: %v is also %v", situation.name, err, other)
				}
			}
		}
		situation.over()
	}
	held.release(t)
}

// The contender hears of both at one moment, and would queue again if its context had not ended. If the holder or the
// connection is lost meanwhile, on a busy machine, the round has judged nothing.
func contextEndsWhileTheNodeVanishes(t testing.TB, w *world) {
	held := w.client().fill()
	for range 30 {
		w.tries(func() (judged bool) {
			if held.lost() != nil {
				held = w.client().fill()
			}
			return endContextWhileTheNodeVanishes(t, w, held)
		})
	}
	held.release(t)
}

func endContextWhileTheNodeVanishes(t testing.TB, w *world, held leases) (judged bool) {
	before := w.nodes()
	suspended := make(chan struct{}, 1)
	c := w.client(framework.WithStateListener(func(now framework.StateChange) {
		if !now.State.IsConnected() {
			trySend(suspended)
		}
	}))
	ctx, cancel := context.WithCancelCause(t.Context())
	a := c.startWith(ctx, func() { cancel(errStop) }, c.lock())
	var added []string
	w.until("it has a node", func() bool {
		added = w.added(before)
		return len(added) > 0 || a.hasReturned()
	})
	w.pass(w.server.SessionTimeout() / 1000)
	for _, node := range added[:min(1, len(added))] {
		w.server.Delete(node)
	}
	a.cancel()
	a.returned()
	judged = held.lost() == nil
	var unreachable *framework.ConnectError
	if errors.As(a.err, &unreachable) && received(suspended, w.patience()) {
		judged = false
	}
	if judged && (!errors.Is(a.err, errStop) || !errors.Is(a.err, context.Canceled) || errors.As(a.err, &unreachable)) {
		t.Fatalf("got %v, %v, want the error of the context", a.lease, a.err)
	}
	c.closes(t) // a creation that is still under way must not be taken for the next contender's
	w.untilGone("no node is left", func() bool { return len(w.added(before)) == 0 })
	return judged
}

func trySend(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// received reports whether something comes before the limit passes.
func received(c <-chan struct{}, limit <-chan time.Time) bool {
	select {
	case <-c:
		return true
	case <-limit:
		return false
	}
}

func wantNone(t testing.TB, err error, unwanted ...error) {
	t.Helper()
	for _, other := range unwanted {
		if errors.Is(err, other) {
			t.Errorf("%v is %v", err, other)
		}
	}
}
