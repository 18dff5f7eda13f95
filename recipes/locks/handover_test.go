package locks_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// handsOver is the option with a number that no test comes to by accident.
func handsOver() locks.Option { return locks.WithLocalHandover(100) }

// inLocalBubble is inBubble, and checks that no local line is left.
func inLocalBubble(t *testing.T, test func(t *testing.T, server *zktest.Server)) {
	t.Helper()
	inBubble(t, test)
	if n := locks.LocalLines(); n > 0 {
		t.Errorf("%d local lines are left", n)
	}
}

// wantHandedOver checks that a lease has the node of the one before it.
func wantHandedOver(t *testing.T, before, lease *locks.Lease) {
	t.Helper()
	if lease.NodeName() != before.NodeName() || lease.FencingToken() != before.FencingToken() || lease.LocalCount() != before.LocalCount()+1 {
		t.Errorf("%s/%d/%d is followed by %s/%d/%d, which is no hand-over", before.NodeName(), before.FencingToken(), before.LocalCount(),
			lease.NodeName(), lease.FencingToken(), lease.LocalCount())
	}
}

// wantOwnNode checks that a lease has a node of its own, later than that of the one before it.
func wantOwnNode(t *testing.T, before, lease *locks.Lease) {
	t.Helper()
	if lease.FencingToken() <= before.FencingToken() || lease.LocalCount() != 0 {
		t.Errorf("%d/%d is followed by %d/%d, which is no node of its own", before.FencingToken(), before.LocalCount(),
			lease.FencingToken(), lease.LocalCount())
	}
}

func isAlive(t *testing.T, lease *locks.Lease) {
	t.Helper()
	synctest.Wait()
	if err := lease.Err(); err != nil {
		t.Errorf("the lease has ended: %v", err)
	}
}

// All of one client's: the mutex, and the writers of a read/write lock.
func exclusive(p *peer, opts ...locks.Option) map[string]locks.Lock {
	return map[string]locks.Lock{
		"mutex": p.mutex(opts...), "write lock": locks.NewInterProcessReadWriteLock(p.Client, "/rw", opts...).WriteLock(),
	}
}

func TestAHandoverAsksNoServer(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for name, lock := range exclusive(p, handsOver()) {
			first := acquire(t, lock)
			waiters := []<-chan result{begin(t.Context(), t, lock), begin(t.Context(), t, lock)}
			p.cable.SetLatency(oneWay)
			p.link.Segments()
			n := elapsed(t, func() { release(t, first) })
			second := (<-waiters[0]).must(t)
			isWaiting(t, waiters[1])
			wantHandedOver(t, first, second)
			release(t, second)
			third := (<-waiters[1]).must(t)
			wantHandedOver(t, second, third)
			if sent := p.link.Requests(); n != 0 || len(sent) > 0 {
				t.Errorf("%s: it took %d round trips and sent %v", name, n, sent)
			}
			if n := elapsed(t, func() { release(t, third) }); n != 1 { // nobody waits
				t.Errorf("%s: the last release took %d round trips", name, n)
			}
		}
	})
}

func TestHandoversAreNotTheDefault(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		first := acquire(t, p.mutex())
		waiter := begin(t.Context(), t, p.mutex())
		release(t, first)
		wantOwnNode(t, first, (<-waiter).must(t))
	})
}

// Sixteen contenders, four holds a node: a create, a listing and a delete for four acquisitions.
func TestHandoversAreAtMostAsManyInARowAsAllowed(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		const contenders, most = 16, 3
		p := warm(t, server)
		mutex := p.mutex(locks.WithLocalHandover(most))
		var waiters []<-chan result
		for range contenders {
			waiters = append(waiters, begin(t.Context(), t, mutex))
		}
		var last *locks.Lease
		for i, waiter := range waiters { // in the order in which they came
			lease := (<-waiter).must(t)
			switch {
			case i == 0:
			case i%(most+1) == 0:
				wantOwnNode(t, last, lease)
			default:
				wantHandedOver(t, last, lease)
			}
			last = lease
			release(t, lease)
		}
		const nodes = contenders / (most + 1)
		want := map[lockstest.Op]int{lockstest.Create: nodes, lockstest.GetChildren: nodes, lockstest.Delete: nodes}
		if got := p.link.Requests(); !maps.Equal(got, want) {
			t.Errorf("%d acquisitions sent %v, want %v", contenders, got, want)
		}
	})
}

// Whoever waits in another process waits until the hold that had begun when the node was a tenth of a second old is over.
func TestOthersWaitForABoundedTime(t *testing.T) {
	for _, test := range []struct{ hold, want time.Duration }{
		{time.Millisecond, 100 * time.Millisecond},
		{30 * time.Millisecond, 120 * time.Millisecond},
		{50 * time.Millisecond, 100 * time.Millisecond},
		{99 * time.Millisecond, 198 * time.Millisecond},
		{time.Second, time.Second},
	} {
		t.Run(test.hold.String(), func(t *testing.T) {
			inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
				p, remote := newPeer(t, server), newPeer(t, server)
				mutex := p.mutex(locks.WithLocalHandover(10000))
				first := acquire(t, mutex)
				begun := time.Now()
				waiter := begin(t.Context(), t, remote.mutex())
				var holds sync.WaitGroup
				for range 200 {
					next := begin(t.Context(), t, mutex)
					holds.Go(func() {
						lease := soon(t, next).must(t)
						time.Sleep(test.hold)
						release(t, lease)
					})
				}
				time.Sleep(test.hold)
				release(t, first)
				r := soon(t, waiter)
				if waited := r.at.Sub(begun); waited != test.want {
					t.Errorf("it waited for %v, want %v", waited, test.want)
				}
				release(t, r.must(t))
				holds.Wait()
			})
		})
	}
}

// What a hold had with the session ends with it: afterwards there is nothing to keep the session valid for.
func TestNothingIsKeptOfHoldsThatWereHandedOver(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := p.mutex(handsOver())
		lease := acquire(t, mutex)
		for range 5 {
			waiter := begin(t.Context(), t, mutex)
			time.Sleep(15 * time.Millisecond)
			release(t, lease)
			lease = (<-waiter).must(t)
		}
		release(t, lease)
		settle()
		p.link.Segments()
		time.Sleep(10 * sessionTimeout)
		if sent := p.link.Segments(); len(sent) > 0 {
			t.Errorf("it sent %v", sent)
		}
	})
}

// A chain of short holds is one long hold to the servers: its node is watched, once, and read once.
func TestTheNodeOfAChainIsWatchedOnce(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := p.mutex(handsOver())
		lease := acquire(t, mutex)
		p.link.Segments()
		for range 9 {
			waiter := begin(t.Context(), t, mutex)
			time.Sleep(10 * time.Millisecond)
			release(t, lease)
			next := (<-waiter).must(t)
			wantHandedOver(t, lease, next)
			lease = next
		}
		if n := server.Watches(path + "/" + lease.NodeName()); n != 1 {
			t.Errorf("its node has %d watches", n)
		}
		if got, want := p.link.Requests(), map[lockstest.Op]int{lockstest.GetData: 1}; !maps.Equal(got, want) {
			t.Errorf("it sent %v, want %v", got, want)
		}
	})
}

// Locks of one client that were set up alike share a line, whatever object or facade they are; others wait at the servers.
func TestLocksThatAreSetUpAlikeShareALine(t *testing.T) {
	for name, test := range map[string]struct {
		opts   []locks.Option
		shares bool
	}{
		"alike":               {[]locks.Option{handsOver()}, true},
		"with a trace":        {[]locks.Option{handsOver(), locks.WithTrace(locks.Trace{})}, true},
		"without the option":  {nil, false},
		"another number":      {[]locks.Option{locks.WithLocalHandover(99)}, false},
		"other data":          {[]locks.Option{handsOver(), locks.WithLockData([]byte("x"))}, false},
		"no data at all":      {[]locks.Option{handsOver(), locks.WithLockData(nil)}, false},
		"other extra markers": {[]locks.Option{handsOver(), locks.WithExtraMarkers("x-")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				first := acquire(t, p.mutex(handsOver()))
				other := locks.NewInterProcessMutex(p.UsingNamespace("locks"), "/a", test.opts...)
				waiter := begin(t.Context(), t, other)
				release(t, first)
				lease := (<-waiter).must(t)
				if test.shares {
					wantHandedOver(t, first, lease)
				} else {
					wantOwnNode(t, first, lease)
				}
				if lease.Path() != "/a" {
					t.Errorf("the lease's path is %s", lease.Path())
				}
			})
		})
	}
}

// The node has the inner lease until that is released, too; and after the hand-over the context of the old hold is no key to the new one.
func TestReentryAndHandover(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := p.mutex(handsOver())
		outer := acquire(t, mutex)
		inner := acquireIn(inside(t, outer), t, mutex)
		waiter := begin(t.Context(), t, mutex)
		release(t, outer)
		isWaiting(t, waiter)
		release(t, inner)
		next := (<-waiter).must(t)
		wantHandedOver(t, inner, next)
		for _, acquire := range []func(context.Context) (*locks.Lease, error){mutex.Acquire, mutex.TryAcquire} {
			_, err := acquire(inside(t, outer))
			wantErr(t, err, locks.ErrReleased)
		}
		if mutex.IsOwnedBy(inside(t, outer)) || !mutex.IsOwnedBy(inside(t, next)) || !mutex.IsAcquiredInThisProcess() {
			t.Error("the lock is not known to be the next one's")
		}
		wantErr(t, outer.Release(), locks.ErrReleased)
		wantErr(t, inner.Release(), locks.ErrReleased)
		_, err := p.Transaction(t.Context(), inner.Check())
		wantErr(t, err, locks.ErrReleased)
		isAlive(t, next)
		again := acquireIn(inside(t, next), t, mutex)
		if again.LocalCount() != next.LocalCount() {
			t.Errorf("a re-entry has count %d, its owner %d", again.LocalCount(), next.LocalCount())
		}
	})
}

func TestALocalWaiterThatGivesUpLeavesTheLine(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := p.mutex(handsOver())
		first := acquire(t, mutex)
		p.link.Segments()
		ctx, cancel := context.WithCancel(t.Context())
		waiters := []<-chan result{begin(t.Context(), t, mutex), begin(ctx, t, mutex), begin(t.Context(), t, mutex)}
		cancel()
		r := <-waiters[1]
		var failed *locks.AcquireError
		if !errors.As(r.err, &failed) || failed.Behind != 2 || !failed.OwnClient || failed.Node != "" || !errors.Is(r.err, context.Canceled) {
			t.Errorf("it fails with %#v", r.err)
		}
		if sent := p.link.Requests(); len(sent) > 0 {
			t.Errorf("it sent %v", sent)
		}
		release(t, first)
		second := (<-waiters[0]).must(t)
		release(t, second)
		wantHandedOver(t, second, (<-waiters[2]).must(t))
	})
}

// Whoever does not wait any longer at the servers leaves his place to the next one of his client.
func TestAPlaceAtTheServersIsLeftToTheNext(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p, remote := newPeer(t, server), newPeer(t, server)
		held := acquire(t, remote.mutex())
		mutex := p.mutex(handsOver())
		ctx, cancel := context.WithCancel(t.Context())
		front := begin(ctx, t, mutex)
		node := ownNode(t, server, p, path)
		later := begin(t.Context(), t, remote.mutex())
		gone, giveUp := context.WithCancel(t.Context())
		middle := begin(gone, t, mutex)
		var told []string
		last := begin(t.Context(), t, locks.NewInterProcessMutex(p.UsingNamespace("locks"), "/a", handsOver(),
			locks.WithTrace(locks.Trace{Waiting: func(_ context.Context, w locks.Waiting) { told = append(told, w.Path+" "+w.Node) }})))
		cancel()
		wantErr(t, soon(t, front).err, context.Canceled)
		synctest.Wait()
		giveUp()
		r := soon(t, middle)
		wantErr(t, r.err, context.Canceled)
		var failed *locks.AcquireError
		if !errors.As(r.err, &failed) || failed.Behind != 1 || path+"/"+failed.Node != node || failed.OwnClient {
			t.Errorf("it fails with %#v", r.err)
		}
		isWaiting(t, last)
		if got := ownNode(t, server, p, path); got != node {
			t.Errorf("the place is %s, it was %s", got, node)
		}
		release(t, held)
		lease := soon(t, last).must(t)
		if want := []string{"/a ", "/a " + lease.NodeName()}; lease.Path() != "/a" || !slices.Equal(told, want) {
			t.Errorf("the lease on %s was told of %q, want %q", lease.Path(), told, want)
		}
		isWaiting(t, later)
		release(t, lease)
		release(t, soon(t, later).must(t))
		wantNodes(t, server, path, "", 0)
	})
}

// The place was removed by hand, or its session has ended, while it changed hands.
func TestAPlaceThatIsGoneIsNoPlace(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *zktest.Server, *peer){
		"removed": func(t *testing.T, server *zktest.Server, p *peer) { remove(t, server, ownNode(t, server, p, path)) },
		"session over": func(t *testing.T, server *zktest.Server, p *peer) {
			session, err := p.Session(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			server.ExpireSession(session.ID())
		},
	} {
		t.Run(name, func(t *testing.T) {
			inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
				p, remote := newPeer(t, server), newPeer(t, server)
				held := acquire(t, remote.mutex())
				mutex := p.mutex(handsOver())
				ctx, cancel := context.WithCancel(t.Context())
				begin(ctx, t, mutex)
				last := begin(t.Context(), t, mutex)
				goOn := server.Hold(zktest.Match{Op: zktest.OpGetChildren2, Session: sessionID(t, p)})
				cancel()
				synctest.Wait() // the next one asks for the line
				end(t, server, p)
				goOn()
				settle()
				release(t, held)
				release(t, soon(t, last).must(t))
				wantNodes(t, server, path, "", 0)
			})
		})
	}
}

func sessionID(t *testing.T, p *peer) int64 {
	t.Helper()
	session, err := p.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return session.ID()
}

func TestTryAcquireDoesNotOvertakeTheLocalLine(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p, remote := newPeer(t, server), newPeer(t, server)
		mutex := p.mutex(handsOver())
		try := func() {
			t.Helper()
			p.link.Segments()
			lease, err := mutex.TryAcquire(t.Context())
			wantErr(t, err, locks.ErrNotAcquired)
			if sent := p.link.Requests(); len(sent) > 0 || lease != nil {
				t.Errorf("it got %v and sent %v", lease, sent)
			}
		}
		held := acquire(t, remote.mutex())
		if _, err := mutex.TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
			t.Error(err)
		}
		waiter := begin(t.Context(), t, mutex) // the try has left nothing behind
		try()
		release(t, held)
		lease := soon(t, waiter).must(t)
		try()
		waiter = begin(t.Context(), t, mutex)
		try()
		release(t, lease)
		try()
		release(t, soon(t, waiter).must(t))
		lease, err := mutex.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waiter = begin(t.Context(), t, mutex)
		release(t, lease)
		wantHandedOver(t, lease, soon(t, waiter).must(t))
	})
}

// While somebody only tries, somebody comes who waits.
func TestATryThatFailsPassesTheLineOn(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p, remote := newPeer(t, server), newPeer(t, server)
		held := acquire(t, remote.mutex())
		mutex := p.mutex(handsOver())
		p.cable.SetLatency(oneWay)
		tried := make(chan error, 1)
		go func() {
			_, err := mutex.TryAcquire(t.Context())
			tried <- err
		}()
		waiter := begin(t.Context(), t, mutex)
		isWaiting(t, waiter)
		wantErr(t, <-tried, locks.ErrNotAcquired)
		settle()
		release(t, held)
		soon(t, waiter).must(t)
	})
}

// The asker wants the node gone.
func TestANodeThatWasAskedForIsNotHandedOver(t *testing.T) {
	for name, lock := range map[string]func(*peer) locks.Lock{
		"mutex":      func(p *peer) locks.Lock { return p.mutex(handsOver()) },
		"write lock": func(p *peer) locks.Lock { return readWrite(p, handsOver()).WriteLock() },
	} {
		t.Run(name, func(t *testing.T) {
			inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				first := acquire(t, lock(p))
				waiters := []<-chan result{begin(t.Context(), t, lock(p)), begin(t.Context(), t, lock(p))}
				time.Sleep(10 * time.Millisecond)
				// Before the node is watched: the next hold is the one that hears of it.
				if err := server.SetData(path+"/"+first.NodeName(), []byte("__REVOKE__")); err != nil {
					t.Fatal(err)
				}
				release(t, first)
				second := (<-waiters[0]).must(t)
				wantHandedOver(t, first, second)
				time.Sleep(60 * time.Millisecond)
				wantAsked(t, second, true)
				release(t, second)
				third := soon(t, waiters[1]).must(t)
				wantOwnNode(t, second, third)
				settle()
				wantAsked(t, third, false)
			})
		})
	}
}

func TestALostHoldIsNotHandedOver(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := p.mutex(handsOver())
		first := acquire(t, mutex)
		waiters := []<-chan result{begin(t.Context(), t, mutex), begin(t.Context(), t, mutex)}
		time.Sleep(60 * time.Millisecond)
		release(t, first)
		second := (<-waiters[0]).must(t)
		remove(t, server, path+"/"+second.NodeName())
		third := soon(t, waiters[1]).must(t) // without any release
		wantErr(t, second.Err(), locks.ErrLeaseLost, locks.ErrRemoved)
		wantErr(t, second.Release(), locks.ErrLeaseLost)
		wantOwnNode(t, second, third)
		isAlive(t, third)
	})
}

// Local waiters do not look after the session, but the front does, and passes the line on.
func TestLocalWaitersOutlastTheSession(t *testing.T) {
	for name, held := range map[string]bool{"behind a holder": true, "behind a waiter": false} {
		t.Run(name, func(t *testing.T) {
			inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
				p, remote := newPeer(t, server), newPeer(t, server)
				mutex := p.mutex(handsOver())
				front := p
				if !held {
					front = remote
				}
				holder := acquire(t, front.mutex(handsOver()))
				var waiters []<-chan result
				for range 4 {
					waiters = append(waiters, begin(t.Context(), t, mutex))
				}
				p.link.Cut()
				time.Sleep(time.Hour) // longer than the session, and than the client waits for a connection
				for _, waiter := range waiters {
					isWaiting(t, waiter)
				}
				p.link.Heal()
				if held {
					wantErr(t, holder.Release(), locks.ErrLeaseLost)
				} else {
					settle()
					release(t, holder)
				}
				for _, waiter := range waiters {
					release(t, soon(t, waiter).must(t))
				}
				wantNodes(t, server, path, "", 0)
			})
		})
	}
}

// A connection that is lost is no reason: the session is valid.
func TestAHandoverNeedsNoConnection(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := p.mutex(handsOver())
		first := acquire(t, mutex)
		waiters := []<-chan result{begin(t.Context(), t, mutex), begin(t.Context(), t, mutex)}
		p.link.Cut()
		time.Sleep(10 * time.Millisecond)
		release(t, first)
		second := (<-waiters[0]).must(t)
		wantHandedOver(t, first, second)
		<-second.Done() // the session lapses
		isWaiting(t, waiters[1])
		p.link.Heal()
		soon(t, waiters[1]).must(t)
	})
}

func TestCloseEndsTheLocalLine(t *testing.T) {
	for name, held := range map[string]bool{"behind a holder": true, "behind a waiter": false} {
		t.Run(name, func(t *testing.T) {
			inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
				p, front := newPeer(t, server), newPeer(t, server)
				if held {
					front = p
				}
				acquire(t, front.mutex(handsOver()))
				var waiters []<-chan result
				for range 20 {
					waiters = append(waiters, begin(t.Context(), t, p.mutex(handsOver())))
				}
				begun := time.Now()
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				for _, waiter := range waiters {
					r := soon(t, waiter)
					wantErr(t, r.err, framework.ErrClosed)
					if !r.at.Equal(begun) {
						t.Errorf("it took %v", r.at.Sub(begun))
					}
				}
			})
		})
	}
}

// They do not find out one after the other.
func TestThoseWhoCannotConnectFailTogether(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		p.link.Cut()
		synctest.Wait()
		begun := time.Now()
		var waiters []<-chan result
		for range 5 {
			waiters = append(waiters, begin(t.Context(), t, p.mutex(handsOver())))
		}
		for _, waiter := range waiters {
			r := soon(t, waiter)
			var unreachable *framework.ConnectError
			if !errors.As(r.err, &unreachable) || r.at.Sub(begun) != p.ConnectionTimeout() {
				t.Errorf("it fails with %v after %v", r.err, r.at.Sub(begun))
			}
		}
	})
}

// What becomes a reader keeps its place only if the writer's node goes.
func TestADowngradeIsNotHandedOver(t *testing.T) {
	for name, readFirst := range map[string]bool{"the reader stays": false, "the reader goes first": true} {
		t.Run(name, func(t *testing.T) {
			inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				rw := readWrite(p, handsOver())
				write := acquire(t, rw.WriteLock())
				waiter := begin(t.Context(), t, rw.WriteLock())
				read := acquireIn(inside(t, write), t, rw.ReadLock())
				if readFirst {
					release(t, read)
				}
				release(t, write)
				if !readFirst {
					wantNodes(t, server, path, "__WRIT__", 1) // that of the waiter
					isWaiting(t, waiter)
					isAlive(t, read)
					release(t, read)
				}
				wantOwnNode(t, write, soon(t, waiter).must(t))
			})
		})
	}
}

// The writer leaves while the reader's node is being made.
func TestADowngradeThatOverlapsTheReleaseIsNotHandedOver(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		rw := readWrite(newPeer(t, server), handsOver())
		write := acquire(t, rw.WriteLock())
		waiter := begin(t.Context(), t, rw.WriteLock())
		goOn := server.Hold(zktest.Match{Op: zktest.OpMulti})
		reader := begin(inside(t, write), t, rw.ReadLock())
		release(t, write)
		isWaiting(t, waiter)
		goOn()
		read := soon(t, reader).must(t)
		settle()
		isWaiting(t, waiter)
		release(t, read)
		wantOwnNode(t, write, soon(t, waiter).must(t))
	})
}

func TestReadersStayAsTheyAre(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		rw := readWrite(newPeer(t, server), handsOver())
		first, second := acquire(t, rw.ReadLock()), acquire(t, rw.ReadLock())
		if first.NodeName() == second.NodeName() {
			t.Error("they share a node")
		}
		waiters := []<-chan result{begin(t.Context(), t, rw.WriteLock()), begin(t.Context(), t, rw.WriteLock()), begin(t.Context(), t, rw.ReadLock())}
		release(t, first)
		for _, waiter := range waiters {
			isWaiting(t, waiter)
		}
		release(t, second)
		write := soon(t, waiters[0]).must(t)
		release(t, write)
		next := soon(t, waiters[1]).must(t)
		wantHandedOver(t, write, next) // the reader came after it, but before it could have had a node of its own
		isWaiting(t, waiters[2])
		release(t, next)
		soon(t, waiters[2]).must(t)
	})
}

func TestMisuseOfLocalHandoverIsToldByTheFirstCall(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for name, lock := range map[string]locks.Lock{
			"none":            p.mutex(locks.WithLocalHandover(0)),
			"less than none":  readWrite(p, locks.WithLocalHandover(-1)).WriteLock(),
			"semaphore":       semaphore(p, 2, handsOver()),
			"semaphore mutex": locks.NewInterProcessSemaphoreMutex(p.Client, path, handsOver()),
		} {
			p.link.Segments()
			if lease, err := lock.Acquire(t.Context()); err == nil {
				t.Errorf("%s: no error", name)
				release(t, lease)
			}
			if sent := p.link.Requests(); len(sent) > 0 {
				t.Errorf("%s: it sent %v", name, sent)
			}
		}
	})
}

func TestMultiLocksHandOverTheirParts(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		multi := locks.NewInterProcessMultiMutex(p.Client, []string{"/a", "/b"}, handsOver())
		first := acquire(t, multi)
		waiter := begin(t.Context(), t, multi)
		release(t, first)
		next := soon(t, waiter).must(t)
		wantHandedOver(t, first.Parts()[0], next.Parts()[0])
		wantOwnNode(t, first.Parts()[1], next.Parts()[1]) // nobody waited for it when it was released
		if next.LocalCount() != 0 {
			t.Errorf("a multi-lock's count is %d", next.LocalCount())
		}
	})
}

func TestTraceTellsOfHandovers(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		var mu sync.Mutex
		var told []string
		tell := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf(format, args...))
		}
		p := newPeer(t, server)
		traced := func(name string) locks.Lock {
			return p.mutex(handsOver(), locks.WithTrace(locks.Trace{
				Waiting: func(_ context.Context, w locks.Waiting) {
					tell("%s: waiting behind %d, local %v, own client %v", name, w.Behind, w.Local, w.OwnClient)
				},
				AcquireEnd: func(_ context.Context, e locks.AcquireEnd) {
					tell("%s: count %d, hand-over %v", name, e.LocalCount, e.HandOver)
				},
				Released: func(r locks.Released) { tell("%s: held for %v, handed over %v", name, r.Held, r.HandedOver) },
			}))
		}
		first := acquire(t, traced("a"))
		waiter := begin(t.Context(), t, traced("b"))
		time.Sleep(10 * time.Millisecond)
		release(t, first)
		second := (<-waiter).must(t)
		synctest.Wait()
		time.Sleep(20 * time.Millisecond)
		release(t, second)
		mu.Lock()
		defer mu.Unlock()
		want := map[string]int{
			"a: count 0, hand-over 0s": 1, "b: waiting behind 1, local true, own client true": 1, "a: held for 10ms, handed over true": 1,
			"b: count 1, hand-over 0s": 1, "b: held for 20ms, handed over false": 1,
		}
		got := map[string]int{}
		for _, line := range told {
			got[line]++
		}
		if !maps.Equal(got, want) {
			t.Errorf("it tells %q", told)
		}
	})
}

// A callback that panics takes nobody's turn along.
func TestAPanicInTheLocalLineLetsTheOthersIn(t *testing.T) {
	inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		first := acquire(t, p.mutex(handsOver()))
		block := make(chan struct{})
		for range 3 {
			go func() {
				defer func() { _ = recover() }()
				_, _ = p.mutex(handsOver(), locks.WithTrace(locks.Trace{Waiting: func(context.Context, locks.Waiting) {
					<-block
					panic("trace")
				}})).Acquire(t.Context())
			}()
			synctest.Wait()
		}
		last := begin(t.Context(), t, p.mutex(handsOver()))
		release(t, first) // gives the node to one of those who will panic
		synctest.Wait()
		close(block)
		soon(t, last).must(t)
	})
}

// Everything that ends a wait at the very moment at which something else does.
func TestNoHandoverIsLost(t *testing.T) {
	for seed := range uint64(30) {
		inLocalBubble(t, func(t *testing.T, server *zktest.Server) {
			p, remote := newPeer(t, server), newPeer(t, server)
			p.cable.SetLatency(time.Millisecond)
			mutex := p.mutex(locks.WithLocalHandover(3))
			var workers sync.WaitGroup
			var inside, acquired int // guarded by the lock
			work := func(lock locks.Lock, random *rand.Rand, rounds int) {
				for range rounds {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(6))*time.Millisecond)
					if random.IntN(3) == 0 {
						ctx = t.Context()
					}
					lease, err := lock.Acquire(ctx)
					if err == nil {
						if inside++; inside != 1 {
							t.Errorf("%d hold it", inside)
						}
						acquired++
						time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
						inside--
						release(t, lease)
					} else if !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					cancel()
				}
			}
			for i := range uint64(8) {
				random := rand.New(rand.NewPCG(seed, i))
				workers.Go(func() { work(mutex, random, 20) })
			}
			workers.Go(func() { work(remote.mutex(), rand.New(rand.NewPCG(seed, 99)), 20) })
			workers.Wait()
			if acquired < 40 {
				t.Errorf("seed %d: %d were let in", seed, acquired)
			}
			wantNodes(t, server, path, "", 0)
			if n := server.WatchCount(); n > 0 {
				t.Errorf("%d watches are left", n)
			}
		})
	}
}
