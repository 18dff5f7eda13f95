package locks_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

type someKey struct{}

// overdue returns a lease of a client whose session has ended it by the clock, without this lease having heard: for a
// second the session's goroutine calls the end of another binding. A process that was suspended is in this state for
// some milliseconds. f is called with the lease before its time is up.
func overdue(t *testing.T, server *zktest.Server, f func(p *peer, lease *locks.Lease)) {
	t.Helper()
	p := newPeer(t, server)
	s, err := p.Session(t.Context())
	must(t, err)
	if _, err := s.Bind(func(error) { time.Sleep(time.Second) }, nil); err != nil {
		t.Fatal(err)
	}
	lease := acquire(t, p.mutex())
	f(p, lease)
	p.link.Mute()
	time.Sleep(time.Until(lease.ValidUntil()) + time.Millisecond)
	isOpen(t, "before the first look, the lease", lease.Done())
}

func isOpen(t *testing.T, whose string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
		t.Errorf("%s: got Done closed, want it open", whose)
	default:
	}
}

func isClosed(t *testing.T, whose string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	default:
		t.Errorf("%s: got Done open, want it closed", whose)
	}
}

func TestTheFirstLookAtALeasesContextEndsItAndItsChildren(t *testing.T) {
	for name, look := range map[string]func(lease *locks.Lease, ctx context.Context) error{
		"Err":                       func(_ *locks.Lease, ctx context.Context) error { return ctx.Err() },
		"Cause":                     func(_ *locks.Lease, ctx context.Context) error { return context.Cause(ctx) },
		"Err of the lease":          func(lease *locks.Lease, _ context.Context) error { return lease.Err() },
		"Err of one with a value":   func(_ *locks.Lease, ctx context.Context) error { return context.WithValue(ctx, someKey{}, 1).Err() },
		"Err of one without leases": func(_ *locks.Lease, ctx context.Context) error { return locks.WithoutLease(ctx).Err() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				var lease *locks.Lease
				var ctx context.Context
				children := map[string]context.Context{}
				stopped := make(chan struct{})
				overdue(t, server, func(_ *peer, l *locks.Lease) {
					lease, ctx = l, l.Context(t.Context())
					children = childrenOf(ctx, t)
					context.AfterFunc(ctx, func() { close(stopped) })
				})
				if err := look(lease, ctx); err == nil {
					t.Errorf("the first look: got %v, want an error", err)
				}
				isClosed(t, "the lease", lease.Done())
				if got, want := ctx.Err(), context.Canceled; !errors.Is(got, want) {
					t.Errorf("Err: got %v, want %v", got, want)
				}
				children["the lease's context"] = ctx
				for name, child := range children {
					isClosed(t, name, child.Done())
					if got := child.Err(); !errors.Is(got, context.Canceled) {
						t.Errorf("Err of %s: got %v, want %v", name, got, context.Canceled)
					}
					if got := context.Cause(child); !errors.Is(got, locks.ErrLeaseLost) {
						t.Errorf("cause of %s: got %v, want %v", name, got, locks.ErrLeaseLost)
					}
				}
				synctest.Wait()
				isClosed(t, "a function of context.AfterFunc", stopped)
			})
		})
	}
}

// childrenOf makes contexts from ctx in every way of package context, which must take no goroutine.
func childrenOf(ctx context.Context, t *testing.T) map[string]context.Context {
	t.Helper()
	synctest.Wait() // none is just ending
	before := runtime.NumGoroutine()
	canceled, cancel := context.WithCancel(ctx)
	t.Cleanup(cancel)
	timed, cancel := context.WithTimeout(context.WithValue(canceled, someKey{}, 1), time.Hour)
	t.Cleanup(cancel)
	caused, fail := context.WithCancelCause(locks.WithoutLease(ctx))
	t.Cleanup(func() { fail(nil) })
	if got, want := runtime.NumGoroutine(), before; got > want {
		t.Errorf("goroutines with contexts made from a lease's: got %d, want at most %d", got, want)
	}
	return map[string]context.Context{
		"WithCancel": canceled, "WithTimeout, of WithValue, of WithCancel": timed, "WithCancelCause": caused,
	}
}

// The time is up, and holders look at the moment at which the session's clock does. Some are first, as after a
// suspension, when timers are late.
func TestErrOfALeasesContextComparesTheTime(t *testing.T) {
	for range 10 {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p := newPeer(t, server)
			lease := acquire(t, p.mutex())
			p.link.Mute()
			until := lease.ValidUntil()
			const holders = 200
			var held, open atomic.Int64
			var all sync.WaitGroup
			for range holders {
				ctx := lease.Context(t.Context())
				all.Go(func() {
					time.Sleep(time.Until(until))
					if ctx.Err() == nil {
						held.Add(1)
					}
					select {
					case <-ctx.Done():
					default:
						open.Add(1)
					}
				})
			}
			all.Wait()
			if held.Load() > 0 || open.Load() > 0 {
				t.Errorf("at ValidUntil, of %d contexts: got %d without an Err and %d with Done open, want none",
					holders, held.Load(), open.Load())
			}
		})
	}
}

// The context of a lease on another session's lock, and with a child of package context between the two, compares the
// time of both.
func TestErrOfANestedLeasesContextComparesTheTimeOfTheOuterLease(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		other := newPeer(t, server)
		var inner *locks.Lease
		var outerCtx, innerCtx, apart context.Context
		overdue(t, server, func(_ *peer, outer *locks.Lease) {
			outerCtx = outer.Context(t.Context())
			between, cancel := context.WithCancel(outerCtx)
			t.Cleanup(cancel)
			inner = acquireIn(between, t, locks.NewInterProcessMutex(other.Client, "/inner"))
			innerCtx = inner.Context(locks.WithoutLease(between))
			apart = inner.Context(context.WithoutCancel(between))
		})
		if got := context.Cause(innerCtx); !errors.Is(got, locks.ErrLeaseLost) {
			t.Errorf("cause of the inner lease's context: got %v, want %v", got, locks.ErrLeaseLost)
		}
		isClosed(t, "the outer lease's context", outerCtx.Done())
		wantErr(t, errors.Join(inner.Err(), apart.Err()))
	})
}

// A multi-lock's context owns the parts' leases and ends with the first that is over.
func TestErrOfAMultiLocksContextComparesTheTimeOfItsParts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		other := newPeer(t, server)
		var ctx context.Context
		overdue(t, server, func(p *peer, _ *locks.Lease) {
			ctx = acquire(t, locks.NewInterProcessMultiLock(
				locks.NewInterProcessMutex(other.Client, "/first"), locks.NewInterProcessMutex(p.Client, "/second"))).
				Context(t.Context())
		})
		if got := context.Cause(ctx); !errors.Is(got, locks.ErrLeaseLost) {
			t.Errorf("cause of the multi-lock's context: got %v, want %v", got, locks.ErrLeaseLost)
		}
	})
}

// The interleaving: one goroutine ends the lease, and with it a context that has many children; while it calls them,
// another one looks at the context. When Err has returned, no child may be going on.
func TestNoChildGoesOnAfterErrOfALeasesContext(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		lease := acquire(t, newPeer(t, server).mutex())
		ctx := lease.Context(t.Context())
		children := make([]context.Context, 20_000)
		for i := range children {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			children[i] = child
		}
		released := make(chan error, 1)
		go func() { released <- lease.Release() }()
		for ctx.Err() == nil {
			runtime.Gosched()
		}
		going := 0
		for _, child := range children {
			if child.Err() == nil {
				going++
			}
		}
		if going > 0 {
			t.Errorf("after Err of the lease's context: got %d of %d children going on, want none", going, len(children))
		}
		wantErr(t, <-released)
	})
}

// The interleaving: one goroutine has ended the lease, and calls its contexts one by one; another one finds the lease
// over, and looks at the context that comes last.
func TestNoContextGoesOnAfterErrOfItsLease(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		lease := acquire(t, newPeer(t, server).mutex())
		all := make([]context.Context, 20_000)
		for i := range all {
			all[i] = lease.Context(t.Context())
		}
		released := make(chan error, 1)
		go func() { released <- lease.Release() }()
		for lease.Err() == nil {
			runtime.Gosched()
		}
		if got := context.Cause(all[len(all)-1]); !errors.Is(got, locks.ErrReleased) {
			t.Errorf("cause of the last of %d contexts of a lease that is over: got %v, want %v", len(all), got, locks.ErrReleased)
		}
		wantErr(t, <-released)
	})
}

func TestALeasesContextPrintsTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		lease := acquire(t, newPeer(t, server).mutex())
		got := fmt.Sprint(lease.Context(context.Background()))
		if want := fmt.Sprintf("context.Background.WithCancel.Lease(%v)", lease); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
