package locks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func multiMutex(p *peer, paths ...string) *locks.InterProcessMultiLock {
	return locks.NewInterProcessMultiLockWithPaths(p.Client, paths)
}

func TestMultiLockIsHeldWhenAllPartsAre(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		multi := multiMutex(p, "/a", "/b", "/c")
		held := acquire(t, locks.NewInterProcessMutex(other.Client, "/c"))
		waiter := begin(t.Context(), t, multi)
		isWaiting(t, waiter)
		if multi.IsAcquiredInThisProcess() {
			t.Error("got a multi-lock that is held without /c, want it not held")
		}
		_, err := locks.NewInterProcessMutex(other.Client, "/a").TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		release(t, held)
		lease := (<-waiter).must(t)
		if !multi.IsAcquiredInThisProcess() {
			t.Error("got a multi-lock that is not held, want it held")
		}
		if parts := lease.Parts(); len(parts) != 3 || parts[0].Path() != "/a" || parts[2].Path() != "/c" {
			t.Errorf("its parts are %v", parts)
		}
		release(t, lease)
		wantErr(t, lease.Release(), locks.ErrReleased)
		for _, dir := range []string{"/a", "/b", "/c"} {
			wantNodes(t, server, dir, "", 0)
		}
	})
}

// scripted is a lock that logs its calls, and fails if the test wants that.
type scripted struct {
	locks.Lock
	name string
	log  *[]string
	err  error
}

func (s *scripted) Acquire(ctx context.Context) (*locks.Lease, error) {
	*s.log = append(*s.log, s.name)
	if s.err != nil {
		return nil, s.err
	}
	return s.Lock.Acquire(ctx)
}

// Curator: testSomeLocksFailToLock, but for that no further lock is tried.
func TestFirstPartThatFailsRollsBackTheOthersInReverse(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		var log []string
		broken := errors.New("broken")
		part := func(name string, err error) locks.Lock {
			trace := locks.Trace{Released: func(locks.Released) { log = append(log, "-"+name) }}
			return &scripted{locks.NewInterProcessMutex(p.Client, "/"+name, locks.WithTrace(trace)), name, &log, err}
		}
		multi := locks.NewInterProcessMultiLock(part("a", nil), part("b", nil), part("c", broken), part("d", nil))
		lease, err := multi.Acquire(t.Context())
		wantErr(t, err, broken)
		synctest.Wait()
		if want := []string{"a", "b", "c", "-b", "-a"}; lease != nil || !slices.Equal(log, want) {
			t.Errorf("got %v; did %v, want %v", lease, log, want)
		}
		for _, dir := range []string{"/a", "/b"} {
			wantNodes(t, server, dir, "", 0)
		}
	})
}

// Curator: testSomeReleasesFail.
func TestAllPartsAreReleasedThoughOneFails(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		var order []string
		trace := locks.Trace{Released: func(r locks.Released) { order = append(order, r.Path) }}
		lease := acquire(t, locks.NewInterProcessMultiLockWithPaths(p.Client, []string{"/a", "/b", "/c"}, locks.WithTrace(trace)))
		release(t, lease.Parts()[1])
		wantErr(t, lease.Err(), locks.ErrReleased)
		wantErr(t, lease.Release(), locks.ErrReleased) // the part that was released before
		synctest.Wait()
		if want := []string{"/b", "/c", "/a"}; !slices.Equal(order, want) {
			t.Errorf("released %v, want %v", order, want)
		}
		for _, dir := range []string{"/a", "/b", "/c"} {
			wantNodes(t, server, dir, "", 0)
		}
	})
}

func TestDeadlineIsOneForAllParts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		first := acquire(t, locks.NewInterProcessMutex(other.Client, "/a"))
		acquire(t, locks.NewInterProcessMutex(other.Client, "/b"))
		time.AfterFunc(3*time.Second, func() { _ = first.Release() })
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begun := time.Now()
		_, err := multiMutex(p, "/a", "/b").Acquire(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
		if !strings.Contains(err.Error(), `"/b"`) {
			t.Errorf("it does not say which part: %v", err)
		}
		wantNodes(t, server, "/a", "", 0)
		wantNodes(t, server, "/b", "", 1)
	})
}

func TestTryOfAMultiLockTakesAllOrNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		held := acquire(t, locks.NewInterProcessMutex(other.Client, "/b"))
		_, err := multiMutex(p, "/a", "/b").TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		wantNodes(t, server, "/a", "", 0)
		release(t, held)
		lease, err := multiMutex(p, "/a", "/b").TryAcquire(t.Context())
		must(t, err)
		release(t, lease)
	})
}

func TestPathIsNamedOnlyOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		mutex := locks.NewInterProcessMutex(p.Client, "/a")
		rw := locks.NewInterProcessReadWriteLock(p.Client, "/a")
		space := p.UsingNamespace("space")
		for name, multi := range map[string]*locks.InterProcessMultiLock{
			"nothing":       locks.NewInterProcessMultiLock(),
			"nil":           locks.NewInterProcessMultiLock(mutex, nil),
			"one object":    locks.NewInterProcessMultiLock(mutex, mutex),
			"one path":      multiMutex(p, "/b", "/a", "/b"),
			"both sides":    locks.NewInterProcessMultiLock(rw.WriteLock(), rw.ReadLock()),
			"two recipes":   locks.NewInterProcessMultiLock(mutex, rw.ReadLock()),
			"semaphore":     locks.NewInterProcessMultiLock(semaphore(p, 2), semaphoreMutex(p)),
			"nested":        locks.NewInterProcessMultiLock(multiMutex(p, "/b", "/a"), mutex),
			"by namespaces": locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(space, "/a"), locks.NewInterProcessMutex(p.Client, "/space/a")),
		} {
			for _, acquire := range []func(context.Context) (*locks.Lease, error){multi.Acquire, multi.TryAcquire} {
				if lease, err := acquire(t.Context()); err == nil {
					t.Errorf("%s: got %v", name, lease)
				}
			}
			if multi.IsAcquiredInThisProcess() {
				t.Errorf("%s: it is held", name)
			}
		}
		if sent := p.link.Requests(); len(sent) > 0 {
			t.Errorf("not without I/O: %v", sent)
		}
		// Clients may be connected to different ensembles.
		if _, err := locks.NewInterProcessMultiLock(mutex, locks.NewInterProcessMutex(other.Client, "/a")).TryAcquire(t.Context()); err == nil {
			t.Error("got both clients holding one lock, want an error")
		}
	})
}

func TestMultiLockOfMultiLocksAndOtherKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		multi := func(p *peer) *locks.InterProcessMultiLock {
			rw := locks.NewInterProcessReadWriteLock(p.Client, "/rw")
			return locks.NewInterProcessMultiLock(
				multiMutex(p, "/a", "/b"), rw.ReadLock(), locks.NewInterProcessSemaphoreV2(p.Client, "/s", 2),
			)
		}
		lease := acquire(t, multi(p))
		ctx := lease.Context(t.Context())
		release(t, acquireIn(ctx, t, multiMutex(p, "/b", "/a"))) // re-enters, in any order
		if !locks.NewInterProcessMutex(p.Client, "/b").IsOwnedBy(ctx) {
			t.Error("got a context that does not own an inner part, want it owned")
		}
		_, err := locks.NewInterProcessReadWriteLock(p.Client, "/rw").WriteLock().Acquire(ctx)
		wantErr(t, err, locks.ErrUpgrade)
		waiter := begin(t.Context(), t, multi(other))
		isWaiting(t, waiter)
		release(t, lease)
		if ctx.Err() == nil || !errors.Is(context.Cause(ctx), locks.ErrReleased) {
			t.Errorf("its context: %v", context.Cause(ctx))
		}
		release(t, (<-waiter).must(t))
		for _, dir := range []string{"/a", "/b", "/rw", "/s/leases", "/s/locks"} {
			wantNodes(t, server, dir, "", 0)
		}
	})
}

func TestLossOfOnePartEndsTheMultiLock(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		outer := acquire(t, locks.NewInterProcessMultiLock(multiMutex(p, "/a", "/b"), locks.NewInterProcessMutex(p.Client, "/c")))
		ctx := outer.Context(t.Context())
		parts := outer.Parts()
		lost := parts[0].Parts()[1]
		settle()
		remove(t, server, "/b/"+lost.NodeName())
		for _, lease := range []*locks.Lease{outer, parts[0], lost} {
			select {
			case <-lease.Done():
			default:
				t.Error("got Done open, want it closed")
			}
			wantErr(t, lease.Err(), locks.ErrLeaseLost, locks.ErrRemoved)
		}
		wantErr(t, context.Cause(ctx), locks.ErrLeaseLost)
		if parts[1].Err() != nil {
			t.Errorf("a part that is there has ended: %v", parts[1].Err())
		}
		wantErr(t, outer.Release(), locks.ErrLeaseLost)
		wantNodes(t, server, "/a", "", 0)
		wantNodes(t, server, "/c", "", 0)
	})
}

// Two clients have sessions of their own. The multi-lock is valid for as long as both are, whichever comes first in it,
// and ends with the first of them, while the other's part is still there.
func TestMultiLockOverTwoClientsEndsWithTheShorterSession(t *testing.T) {
	for name, shortFirst := range map[string]bool{"the shorter first": true, "the longer first": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				short := newPeer(t, server, framework.WithSessionTimeout(sessionTimeout/2))
				long := newPeer(t, server)
				order := []*peer{short, long}
				if !shortFirst {
					slices.Reverse(order)
				}
				lease := acquire(t, locks.NewInterProcessMultiLock(
					locks.NewInterProcessMutex(order[0].Client, "/a"), locks.NewInterProcessMutex(order[1].Client, "/b")))
				ctx := lease.Context(t.Context())
				time.Sleep(10*sessionTimeout + 300*time.Millisecond) // no renewal is due at that moment
				until := lease.ValidUntil()
				for _, part := range lease.Parts() {
					if until.After(part.ValidUntil()) {
						t.Errorf("the whole is valid for %v after %s", until.Sub(part.ValidUntil()), part.Path())
					}
				}
				short.link.Cut()
				long.link.Cut()
				cut := time.Now()
				<-lease.Done()
				if late := time.Since(until); late < -10*time.Millisecond || late > 10*time.Millisecond {
					t.Errorf("it ended %v after ValidUntil", late)
				}
				if lasted := time.Since(cut); lasted > sessionTimeout/2 {
					t.Errorf("it lasted for %v more, and the shorter session is one of %v", lasted, sessionTimeout/2)
				}
				wantErr(t, lease.Err(), locks.ErrLeaseLost, framework.ErrNotRenewed)
				wantErr(t, context.Cause(ctx), locks.ErrLeaseLost)
				ended := 0
				for _, part := range lease.Parts() {
					if part.Err() != nil {
						ended++
					}
				}
				if ended != 1 {
					t.Errorf("%d parts have ended, want that of the shorter session alone", ended)
				}
				short.link.Heal()
				long.link.Heal()
			})
		})
	}
}

// The multi-lock has /a and waits for /b when /a's node is removed by hand: it begins again, and what it returns is
// whole.
func TestPartThatIsLostDuringTheWaitIsAcquiredAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		held := acquire(t, locks.NewInterProcessMutex(other.Client, "/b"))
		waiter := begin(t.Context(), t, multiMutex(p, "/a", "/b"))
		settle()
		remove(t, server, ownNode(t, server, p, "/a"))
		isWaiting(t, waiter)
		wantNodes(t, server, "/a", "", 1)
		wantNodes(t, server, "/b", "", 2)
		release(t, held)
		lease := (<-waiter).must(t)
		if lease.Err() != nil {
			t.Error(lease.Err())
		}
		release(t, lease)
	})
}

// The same by the end of the session, also through an outage that is longer than the connection timeout.
func TestMultiLockOutlastsTheLossOfTheSession(t *testing.T) {
	for _, outage := range []time.Duration{sessionTimeout * 95 / 100, 2 * sessionTimeout, 10 * time.Minute} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p, other := newPeer(t, server), newPeer(t, server)
			held := acquire(t, locks.NewInterProcessMutex(other.Client, "/b"))
			waiter := begin(t.Context(), t, multiMutex(p, "/a", "/b"))
			settle()
			p.link.Cut()
			time.Sleep(outage)
			isWaiting(t, waiter)
			p.link.Heal()
			time.Sleep(sessionTimeout)
			isWaiting(t, waiter)
			release(t, held)
			lease := (<-waiter).must(t)
			if lease.Err() != nil {
				t.Errorf("after %v: %v", outage, lease.Err())
			}
			release(t, lease)
			wantNodes(t, server, "/a", "", 0)
			wantNodes(t, server, "/b", "", 0)
		})
	}
}

// A part that the caller owned already is lost while the multi-lock waits: that caller cannot acquire it again.
func TestOwnedPartThatIsLostDuringTheWaitEndsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		owned := acquire(t, locks.NewInterProcessMutex(p.Client, "/a"))
		acquire(t, locks.NewInterProcessMutex(other.Client, "/b"))
		waiter := begin(inside(t, owned), t, multiMutex(p, "/a", "/b"))
		settle()
		remove(t, server, "/a/"+owned.NodeName())
		wantErr(t, (<-waiter).err, locks.ErrLeaseLost)
		wantNodes(t, server, "/b", "", 1)
	})
}

func TestClosedClientEndsTheWaitForAMultiLock(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		acquire(t, locks.NewInterProcessMutex(other.Client, "/b"))
		waiter := begin(t.Context(), t, multiMutex(p, "/a", "/b"))
		settle()
		wantErr(t, p.Close())
		wantErr(t, (<-waiter).err, framework.ErrClosed)
		wantNodes(t, server, "/a", "", 0)
	})
}

// A lease of a multi-lock has no node, and says so.
func TestMultiLeaseRefersToItsParts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, multiMutex(p, "/a", "/b"))
		if lease.NodeName() != "" || lease.Path() != "" || lease.FencingToken() != 0 {
			t.Errorf("%q, %q, %d", lease.NodeName(), lease.Path(), lease.FencingToken())
		}
		if _, err := lease.Data(t.Context()); err == nil {
			t.Error("got data of a multi-lock's lease, want an error")
		}
		if _, err := p.Transaction(t.Context(), lease.Check()); err == nil {
			t.Error("got a transaction with a multi-lock's Check, want an error")
		}
		var checks []framework.Op
		for _, part := range lease.Parts() {
			checks = append(checks, part.Check())
			if part.FencingToken() == 0 || part.ValidUntil().Before(lease.ValidUntil()) {
				t.Errorf("%d, %v", part.FencingToken(), part.ValidUntil())
			}
		}
		if _, err := p.Transaction(t.Context(), checks...); err != nil {
			t.Error(err)
		}
	})
}
