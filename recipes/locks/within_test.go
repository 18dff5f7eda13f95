package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// What holds of every recipe is a law, see lockstest.

func TestWithinBoundsAMultiLockAsAWhole(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		first := acquire(t, locks.NewInterProcessMutex(other.Client, "/a"))
		acquire(t, locks.NewInterProcessMutex(other.Client, "/b"))
		time.AfterFunc(3*time.Second, func() { _ = first.Release() })
		begun := time.Now()
		_, err := locks.Within(multiMutex(p, "/a", "/b"), 5*time.Second).Acquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
		wantNodes(t, server, "/a", "", 0)
		wantNodes(t, server, "/b", "", 1)

		part := locks.Within(locks.NewInterProcessMutex(p.Client, "/b"), time.Second)
		begun = time.Now()
		_, err = locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(p.Client, "/a"), part).Acquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("a part with a limit of its own took %v", took)
		}
		wantNodes(t, server, "/a", "", 0)
	})
}

// cutting is a lock that loses its client's network when it is acquired.
type cutting struct {
	locks.Lock
	p *peer
}

func (c *cutting) Acquire(ctx context.Context) (*locks.Lease, error) {
	c.p.link.Mute()
	return c.Lock.Acquire(ctx)
}

func (c *cutting) TryAcquire(ctx context.Context) (*locks.Lease, error) {
	c.p.link.Mute()
	return c.Lock.TryAcquire(ctx)
}

// The multi-lock has /a when the server falls silent: neither the wait for /b nor the release of /a outlasts the limit.
func TestMultiLockEndsInTimeWhileTheServerIsSilent(t *testing.T) {
	const limit, timeout = time.Second, 2 * time.Second
	for name, acquire := range map[string]func(context.Context, locks.Lock) (time.Duration, error){
		"Within": func(ctx context.Context, lock locks.Lock) (time.Duration, error) {
			_, err := locks.Within(lock, limit).Acquire(ctx)
			return limit, err
		},
		"a deadline": func(ctx context.Context, lock locks.Lock) (time.Duration, error) {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			_, err := lock.Acquire(ctx)
			return limit, err
		},
		"a try": func(ctx context.Context, lock locks.Lock) (time.Duration, error) {
			_, err := lock.TryAcquire(ctx)
			return timeout, err
		},
	} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p := newPeer(t, server, framework.WithConnectionTimeout(timeout))
			multi := locks.NewInterProcessMultiLock(
				locks.NewInterProcessMutex(p.Client, "/a"), &cutting{locks.NewInterProcessMutex(p.Client, "/b"), p},
				locks.NewInterProcessMutex(p.Client, "/c"),
			)
			begun := time.Now()
			want, err := acquire(t.Context(), multi)
			if took := time.Since(begun); err == nil || took != want {
				t.Errorf("%s: after %v: %v", name, took, err)
			}
			if released := new(locks.ReleaseError); errors.As(err, &released) {
				t.Errorf("%s: a removal that goes on in the background is no error: %v", name, err)
			}
			p.link.Heal()
			time.Sleep(sessionTimeout)
			wantNodes(t, server, "/a", "", 0)
			wantNodes(t, server, "/b", "", 0)
		})
	}
}

func TestTryOfAMultiLockIsBoundedByTheSlowestClient(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		quick := newPeer(t, server, framework.WithConnectionTimeout(time.Second))
		slow := newPeer(t, server, framework.WithConnectionTimeout(3*time.Second))
		mutex := func(p *peer, path string) locks.Lock { return locks.NewInterProcessMutex(p.Client, path) }
		slow.link.Mute()
		begun := time.Now()
		_, err := locks.NewInterProcessMultiLock(mutex(quick, "/a"), mutex(slow, "/b"), mutex(quick, "/c")).TryAcquire(t.Context())
		wantErr(t, err, framework.ErrConnectionLost)
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("it took %v, want the connection timeout of the slower client", took)
		}
		slow.link.Heal()
		time.Sleep(sessionTimeout)
		wantNodes(t, server, "/a", "", 0)
	})
}

// A TimedLock is the same lock: in a multi-lock, which is asked whether it is held, and with contexts of either.
func TestWithinIsTheSameLock(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		rw := locks.NewInterProcessReadWriteLock(p.Client, "/rw")
		for name, lock := range map[string]interface {
			locks.Lock
			IsAcquiredInThisProcess() bool
		}{
			"mutex": p.mutex(), "reader": rw.ReadLock(), "semaphore": locks.NewInterProcessSemaphoreV2(p.Client, "/s", 1),
			"semaphore mutex": locks.NewInterProcessSemaphoreMutex(p.Client, "/sm"), "multi-lock": multiMutex(p, "/m", "/n"),
			"retained": p.mutex().Retained(),
		} {
			limited := locks.Within(locks.Within(lock, time.Second), time.Minute)
			multi := locks.NewInterProcessMultiLock(limited)
			if multi.IsAcquiredInThisProcess() {
				t.Errorf("%s: got a multi-lock that is held before its part, want it free", name)
			}
			lease := acquire(t, limited)
			if !lock.IsAcquiredInThisProcess() || !multi.IsAcquiredInThisProcess() {
				t.Errorf("%s: got a lock, or a multi-lock of it, that is not held, want both held", name)
			}
			release(t, lease)
		}

		mutex := p.mutex()
		lease := acquire(t, locks.Within(mutex, time.Second))
		if !mutex.IsOwnedBy(inside(t, lease)) || mutex.IsOwnedBy(t.Context()) {
			t.Error("got a mutex that does not know its owner, want it known")
		}
		release(t, lease)
		_, err := locks.NewInterProcessMultiLock(mutex, locks.Within(p.mutex(), time.Second)).Acquire(t.Context())
		if err == nil {
			t.Error("got no error of a multi-lock with one path twice, want one")
		}
	})
}

func TestWithinOfNilIsRefused(t *testing.T) {
	for _, d := range []time.Duration{0, time.Second} {
		for name, lock := range map[string]locks.Lock{
			"nil": locks.Within(nil, d), "nil within": locks.Within(locks.Within(nil, d), d),
			"a multi-lock's part": locks.NewInterProcessMultiLock(locks.Within(nil, d)),
		} {
			if lease, err := lock.Acquire(t.Context()); err == nil {
				t.Errorf("%s: Acquire: %v", name, lease)
			}
			if lease, err := lock.TryAcquire(t.Context()); err == nil {
				t.Errorf("%s: TryAcquire: %v", name, lease)
			}
		}
	}
}

// waiting is a Lock of another package, which knows contexts only by what everybody can see of them.
type waiting struct{ plain bool }

func (w waiting) Acquire(ctx context.Context) (*locks.Lease, error) {
	<-ctx.Done()
	if w.plain {
		return nil, ctx.Err()
	}
	return nil, context.Cause(ctx)
}

func (w waiting) TryAcquire(ctx context.Context) (*locks.Lease, error) { return w.Acquire(ctx) }

func TestWithinBoundsALockOfAnotherPackage(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *zktest.Server) {
		for _, lock := range []locks.Lock{waiting{plain: true}, waiting{}, locks.NewInterProcessMultiLock(waiting{plain: true})} {
			_, err := locks.Within(lock, time.Second).Acquire(t.Context())
			if !errors.Is(err, locks.ErrNotAcquired) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after the limit: %v", err)
			}
			reason := errors.New("reason")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, reason)
			_, err = locks.Within(lock, time.Minute).Acquire(ctx)
			cancel()
			if errors.Is(err, locks.ErrNotAcquired) || !errors.Is(err, reason) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after the caller's deadline: %v", err)
			}
		}
	})
}

// A lateContext ends a moment after its deadline.
type lateContext struct{ context.Context }

func (c lateContext) Deadline() (time.Time, bool) {
	deadline, ok := c.Context.Deadline()
	return deadline.Add(-time.Millisecond), ok
}

// Two timers for one moment may fire in either order: a limit that ends with the caller's deadline has none.
func TestWithinYieldsToADeadlineOfTheSameMoment(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		acquire(t, newPeer(t, server).mutex())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second+time.Millisecond)
		defer cancel()
		_, err := locks.Within(newPeer(t, server).mutex(), time.Second).Acquire(lateContext{ctx})
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("got %v, want the caller's deadline alone", err)
		}
	})
}

// The caller's trace takes longer than the limit.
func TestWithinDoesNotBoundAReentryThatItsTraceHoldsUp(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		slow := locks.WithTrace(locks.Trace{AcquireStart: func(ctx context.Context, _ locks.AcquireStart) context.Context {
			time.Sleep(time.Second)
			return ctx
		}})
		mutex := newPeer(t, server).mutex(slow)
		lease := acquire(t, mutex)
		release(t, acquireIn(lease.Context(t.Context()), t, locks.Within(mutex, time.Millisecond)))
		release(t, lease)
	})
}
