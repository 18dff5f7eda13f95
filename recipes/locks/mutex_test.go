package locks_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestReentryFollowsTheContext(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		outer := acquire(t, p.mutex())
		type key struct{}
		owning := outer.Context(t.Context())
		derived, cancel := context.WithTimeout(context.WithValue(owning, key{}, 1), time.Minute)
		defer cancel()
		for name, ctx := range map[string]context.Context{
			"the context": owning, "a derived one": derived, "without its cancellation": context.WithoutCancel(owning),
			"of a nested lease": acquireIn(owning, t, p.mutex()).Context(owning),
			"of another lock":   acquireIn(owning, t, locks.NewInterProcessMutex(p.Client, "/locks/b")).Context(owning),
		} {
			// another object, another facade
			lease, err := locks.NewInterProcessMutex(p.UsingNamespace("locks"), "/a").TryAcquire(ctx)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !p.mutex().IsOwnedBy(ctx) {
				t.Errorf("%s does not own the lock", name)
			}
			release(t, lease)
		}
		for name, ctx := range map[string]context.Context{
			"none": t.Context(), "WithoutLease": locks.WithoutLease(owning), "WithoutLease, derived": context.WithoutCancel(locks.WithoutLease(derived)),
		} {
			if lease, err := p.mutex().TryAcquire(ctx); !errors.Is(err, locks.ErrNotAcquired) {
				t.Errorf("%s: %v, %v", name, lease, err)
			}
			if p.mutex().IsOwnedBy(ctx) {
				t.Errorf("%s owns the lock", name)
			}
		}
		if lease, err := newPeer(t, server).mutex().TryAcquire(owning); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("another client with the context: %v, %v", lease, err)
		}
	})
}

func TestEndedContextsDoNotReenter(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		ctx := lease.Context(t.Context())
		release(t, lease)
		lost := acquire(t, p.mutex())
		lostCtx := lost.Context(t.Context())
		p.link.Mute()
		<-lost.Done()
		p.link.Heal()
		for name, test := range map[string]struct {
			ctx  context.Context
			want error
		}{
			"released": {ctx, locks.ErrReleased}, "released, without cancellation": {context.WithoutCancel(ctx), locks.ErrReleased},
			"lost": {lostCtx, locks.ErrLeaseLost}, "lost, without cancellation": {context.WithoutCancel(lostCtx), locks.ErrLeaseLost},
		} {
			if again, err := p.mutex().Acquire(test.ctx); !errors.Is(err, test.want) {
				t.Errorf("%s: Acquire: %v, %v", name, again, err)
			}
			if again, err := p.mutex().TryAcquire(test.ctx); !errors.Is(err, test.want) {
				t.Errorf("%s: TryAcquire: %v, %v", name, again, err)
			}
			if p.mutex().IsOwnedBy(test.ctx) {
				t.Errorf("%s owns the lock", name)
			}
		}
		if p.mutex().IsAcquiredInThisProcess() {
			t.Error("got a lost lock that is acquired in this process, want it free")
		}
	})
}

func TestLeaseContextsEndWithTheFirstOfTheirReasons(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lease := acquire(t, p.mutex())
		stop := errors.New("stop")
		parent, cancel := context.WithCancelCause(t.Context())
		child := lease.Context(parent)
		cancel(stop)
		if <-child.Done(); !errors.Is(context.Cause(child), stop) {
			t.Errorf("the parent's end: %v", context.Cause(child))
		}
		wantErr(t, lease.Err())
		ctx := lease.Context(t.Context())
		release(t, lease)
		if <-ctx.Done(); !errors.Is(context.Cause(ctx), locks.ErrReleased) {
			t.Errorf("the release: %v", context.Cause(ctx))
		}
		late := lease.Context(t.Context())
		if <-late.Done(); !errors.Is(context.Cause(late), locks.ErrReleased) {
			t.Errorf("a context of a released lease: %v", context.Cause(late))
		}
	})
}

// A lease that lives long may make many contexts. Those that have ended are not kept.
func TestManyContextsAreFreed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		lease := acquire(t, newPeer(t, server).mutex())
		const many, kilobyte = 20000, 1 << 10
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range many {
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), new(int), make([]byte, kilobyte)))
			_ = lease.Context(ctx)
			cancel()
		}
		synctest.Wait()
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > many*kilobyte/4 {
			t.Errorf("%d bytes are kept", kept)
		}
	})
}

func TestASecondReleaseHarmsNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		outer := acquire(t, p.mutex())
		inner := acquireIn(outer.Context(t.Context()), t, p.mutex())
		release(t, inner)
		wantErr(t, inner.Release(), locks.ErrReleased)
		wantErr(t, outer.Err())
		release(t, outer)
		next := acquire(t, p.mutex())
		wantErr(t, outer.Release(), locks.ErrReleased)
		if err := next.Err(); err != nil || len(server.Children(path)) != 1 {
			t.Errorf("the next lease: %v", err)
		}
	})
}

func TestDoNamesALossOnceWhateverWorkReturns(t *testing.T) {
	for name, returned := range map[string]func(ctx context.Context) error{
		"nil":       func(context.Context) error { return nil },
		"the cause": func(ctx context.Context) error { return fmt.Errorf("work: %w", context.Cause(ctx)) },
	} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			p := newPeer(t, server)
			err := locks.Do(t.Context(), p.mutex(), func(ctx context.Context) error {
				p.link.Mute()
				<-ctx.Done()
				p.link.Heal()
				return returned(ctx)
			})
			if got := strings.Count(fmt.Sprint(err), "lost: "); !errors.Is(err, locks.ErrLeaseLost) || got != 1 {
				t.Errorf("%s: got %v, want the loss, once", name, err)
			}
		})
	}
}

func TestParticipantsStandInTheirOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex(locks.WithLockData([]byte("first"))))
		waiter := begin(t.Context(), t, newPeer(t, server).mutex(locks.WithLockData([]byte("second"))))
		p := newPeer(t, server)
		got, err := p.mutex().Participants(t.Context())
		if err != nil || len(got) != 2 || string(got[0].Data) != "first" || string(got[1].Data) != "second" {
			t.Fatalf("got %+v, %v", got, err)
		}
		if got[0].Token != held.FencingToken() || !strings.HasSuffix(got[0].Path, held.NodeName()) || got[0].Session == got[1].Session {
			t.Errorf("the holder is described as %+v", got[0])
		}
		release(t, held)
		release(t, soon(t, waiter).must(t))
		if _, err := locks.NewInterProcessMutex(p.Client, "/no/such").Participants(t.Context()); !errors.Is(err, zk.ErrNoNode) {
			t.Errorf("of a path that does not exist: %v", err)
		}
		if got, err := p.mutex().Participants(t.Context()); err != nil || len(got) > 0 {
			t.Errorf("of a free lock: %+v, %v", got, err)
		}
	})
}

func TestTheErrorOfAWaitForAnOwnLeaseNamesItsNodeAndSaysSo(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		held := acquire(t, p.mutex())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.mutex().Acquire(ctx)
		var failed *locks.AcquireError
		if !errors.As(err, &failed) || !failed.OwnClient || !failed.OwnLease || failed.Predecessor != held.NodeName() || failed.Ahead != 1 {
			t.Fatalf("got %+v", err)
		}
		want := `locks: acquire "/locks/a": waiting behind 1, nearest ` + held.NodeName() + `: this client holds the predecessor; if the caller does, pass lease.Context(ctx) to Acquire: ` +
			`context deadline exceeded`
		if err.Error() != want {
			t.Errorf("it says\n%v, want\n%s", err, want)
		}
	})
}

// Many goroutines release, look at, and take contexts of one lease while it is being lost.
func TestALeaseCanBeUsedByMany(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for i := range 20 {
			lease := acquire(t, p.mutex())
			node := path + "/" + lease.NodeName()
			done := make(chan int, 8)
			for range cap(done) {
				go func() {
					ctx := lease.Context(t.Context())
					if i%2 == 0 {
						_ = server.Delete(node)
					}
					released := 0
					if err := lease.Release(); !errors.Is(err, locks.ErrReleased) {
						released = 1 // released by this call, or lost
					}
					_, _, _ = lease.Err(), lease.ValidUntil(), lease.Check()
					<-ctx.Done()
					done <- released
				}()
			}
			total := 0
			for range cap(done) {
				total += <-done
			}
			if total != 1 {
				t.Errorf("%d of the releases were the first", total)
			}
		}
	})
}

func TestBadInputIsRefusedByName(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		if _, _, err := p.Create(t.Context(), "/ephemeral", nil, framework.WithMode(framework.Ephemeral)); err != nil {
			t.Fatal(err)
		}
		before := server.Counts()[zktest.OpCreate2]
		for name, mutex := range map[string]*locks.InterProcessMutex{
			"a nil client":     locks.NewInterProcessMutex(nil, path),
			"a nil option":     locks.NewInterProcessMutex(p.Client, path, nil),
			"an empty marker":  p.mutex(locks.WithExtraMarkers("")),
			"a marker's slash": p.mutex(locks.WithExtraMarkers("lock/x-")),
			"everything wrong": locks.NewInterProcessMutex(nil, "a", nil),
		} {
			refused(t, name, mutex, nil)
		}
		refused(t, "too much data", p.mutex(locks.WithLockData(make([]byte, 2<<20))), framework.ErrTooLarge)
		for _, bad := range []string{"", "a", "/a/", "/a//b", "/a/../b", "/a/.", "/a\x00b", "/a\x1fb", "/a\xff", "/zookeeper", "/zookeeper/x"} {
			refused(t, bad, locks.NewInterProcessMutex(p.Client, bad), framework.ErrInvalidPath)
		}
		if n := server.Counts()[zktest.OpCreate2] - before; n > 0 {
			t.Errorf("%d creates were sent", n)
		}
		refused(t, "an ephemeral parent", locks.NewInterProcessMutex(p.Client, "/ephemeral"), errNoChildren)
	})
}

// refused checks that all calls on a lock fail with a reason, which says the path, and leave nothing.
func refused(t *testing.T, what string, mutex *locks.InterProcessMutex, want error) {
	t.Helper()
	for name, call := range map[string]func() (any, error){
		"Acquire":      func() (any, error) { return mutex.Acquire(t.Context()) },
		"Participants": func() (any, error) { return mutex.Participants(t.Context()) },
		"TryAcquire":   func() (any, error) { return mutex.TryAcquire(t.Context()) },
	} {
		if name == "Participants" && errors.Is(want, errNoChildren) {
			continue // there are just none
		}
		got, err := call()
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s of %q: %v, %v, want %v", name, what, got, err, want)
		}
		var failed *locks.AcquireError
		if name != "Participants" && !errors.As(err, &failed) {
			t.Errorf("%s of %q: %v is no AcquireError", name, what, err)
		}
	}
	if mutex.IsAcquiredInThisProcess() || mutex.IsOwnedBy(t.Context()) {
		t.Errorf("%q is acquired", what)
	}
}

func TestAServerThatRefusesIsNamed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		must(t, errors.Join(server.Create("/locks", nil), server.Create(path, nil)))
		owner := newPeer(t, server, framework.WithAuthorization("digest", []byte("a:b")))
		if _, err := owner.SetACL(t.Context(), path, zk.DigestACL(zk.PermAll, "a", "b"), -1); err != nil {
			t.Fatal(err)
		}
		stranger := newPeer(t, server)
		refused(t, "without permission", stranger.mutex(), zk.ErrNoAuth)
		lease := acquire(t, owner.mutex())
		release(t, lease)
	})
}

var errNoChildren = zk.ErrNoChildrenForEphemerals
