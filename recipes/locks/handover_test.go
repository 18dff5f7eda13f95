package locks_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
	if n := locks.LocalLines(peers...); n > 0 {
		t.Errorf("got %d local lines of %d clients that are left, want none", n, len(peers))
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
					tell("%s: waiting behind %d, local %v, own client %v", name, w.Ahead, w.Local, w.OwnClient)
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
		synctest.Wait()
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
