package locks_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// retaining retains a lock of a kind that can be retained.
func retaining(lock locks.Lock, opts ...locks.RetainOption) *locks.RetainedLock {
	return lock.(interface {
		Retained(opts ...locks.RetainOption) *locks.RetainedLock
	}).Retained(opts...)
}

// retained is a client's mutex, retained.
func retained(p *peer, opts ...locks.RetainOption) *locks.RetainedLock {
	return p.mutex().Retained(opts...)
}

// inRetainedBubble is inBubble, and checks that no local queue is in use.
func inRetainedBubble(t *testing.T, test func(t *testing.T, server *zktest.Server)) {
	t.Helper()
	inBubble(t, test)
	if n := locks.RetainedQueues(peers...); n > 0 {
		t.Errorf("got %d local queues of %d clients in use, want none", n, len(peers))
	}
}

// wantHandedOver checks that a lease has the node of the one before it.
func wantHandedOver(t *testing.T, before, lease *locks.Lease) {
	t.Helper()
	if lease.NodeName() != before.NodeName() || lease.FencingToken() != before.FencingToken() || lease.FencingCount() != before.FencingCount()+1 {
		t.Errorf("%s/%d/%d is followed by %s/%d/%d, which is no hand-over", before.NodeName(), before.FencingToken(), before.FencingCount(),
			lease.NodeName(), lease.FencingToken(), lease.FencingCount())
	}
}

// wantOwnNode checks that a lease has a node of its own, later than that of the one before it.
func wantOwnNode(t *testing.T, before, lease *locks.Lease) {
	t.Helper()
	if lease.FencingToken() <= before.FencingToken() || lease.FencingCount() != 0 {
		t.Errorf("%d/%d is followed by %d/%d, which is no node of its own", before.FencingToken(), before.FencingCount(),
			lease.FencingToken(), lease.FencingCount())
	}
}

func isAlive(t *testing.T, lease *locks.Lease) {
	t.Helper()
	synctest.Wait()
	wantErr(t, lease.Err())
}

// All of one client's: the mutex, and the writers of a read/write lock.
func exclusive(p *peer, opts ...locks.RetainOption) map[string]locks.Lock {
	return map[string]locks.Lock{
		"mutex": retained(p, opts...), "write lock": locks.NewInterProcessReadWriteLock(p.Client, "/rw").WriteLock().Retained(opts...),
	}
}

func TestAHandoverAsksNoServer(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for name, lock := range exclusive(p) {
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
			want := map[lockstest.Op]int{lockstest.GetChildren: 1} // for hearing of others
			if sent := p.link.Requests(); n != 0 || !maps.Equal(sent, want) {
				t.Errorf("%s: it took %d round trips and sent %v, want none and %v", name, n, sent, want)
			}
			if n := elapsed(t, func() { release(t, third) }); n != 1 { // no contender waits
				t.Errorf("%s: the last release took %d round trips", name, n)
			}
		}
	})
}

// A node keeps its data when it is handed over, and other clients read that: so it goes only to locks with the same.
func TestNodeOfARetainedLockHasTheDataOfItsHolder(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithDefaultData([]byte("default")))
		with := func(data string) []locks.Option { return []locks.Option{locks.WithLockData([]byte(data))} }
		var last *locks.Lease
		for _, next := range []struct {
			opts []locks.Option
			want string
		}{{nil, "default"}, {with("a"), "a"}, {with("b"), "b"}, {with(""), ""}, {with("a"), "a"}, {nil, "default"}} {
			waiter := begin(t.Context(), t, p.mutex(next.opts...).Retained())
			if last != nil {
				release(t, last)
			}
			last = soon(t, waiter).must(t)
			if got, _ := server.Data(path + "/" + last.NodeName()); string(got) != next.want {
				t.Errorf("got a node with data %q, want %q", got, next.want)
			}
		}
	})
}

func TestHandoversAreNotTheDefault(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		first := acquire(t, p.mutex())
		waiter := begin(t.Context(), t, p.mutex())
		release(t, first)
		wantOwnNode(t, first, (<-waiter).must(t))
	})
}

// While the directory's listing is on its way, it is not known whether others wait: then the bound counts, and the next
// contender waits for the listing, which takes less time than a node of its own.
func TestHandoversAreAtMostAsManyInARowWhileOthersAreUnknown(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		const contenders, most = 16, 3
		p := warm(t, server)
		mutex := retained(p, locks.RetainHandOvers(most))
		first := acquire(t, mutex)
		var waiters []<-chan result
		for range contenders {
			waiters = append(waiters, begin(t.Context(), t, mutex))
		}
		p.link.Requests()
		begun := time.Now()
		release(t, first) // sends the listing
		last := first
		for i, waiter := range waiters { // in the order in which they came
			r := soon(t, waiter)
			lease := r.must(t)
			wantHandedOver(t, last, lease)
			want := time.Duration(0)
			if i >= most {
				want = roundTrip
			}
			if got := r.at.Sub(begun); got != want {
				t.Errorf("hand-over %d: got it after %v, want %v", i, got, want)
			}
			last = lease
			release(t, lease)
		}
		if got, want := p.link.Requests(), (map[lockstest.Op]int{lockstest.GetChildren: 1, lockstest.RemoveWatches: 1, lockstest.Delete: 1}); !maps.Equal(got, want) {
			t.Errorf("%d hand-overs sent %v, want %v", contenders, got, want)
		}
	})
}

// Without an answer the node goes when the time is up, and others are let in: here a remote one.
func TestANodeIsHeldBackForABoundedTime(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, remote := newPeer(t, server), newPeer(t, server)
		mutex := retained(p, locks.RetainHandOvers(0))
		first := acquire(t, mutex)
		begun := time.Now()
		const far = 200 * time.Millisecond
		p.cable.SetLatency(far)
		waiter := begin(t.Context(), t, mutex)
		release(t, first)
		isWaiting(t, waiter)
		other := soon(t, begin(t.Context(), t, remote.mutex()))
		if got, want := other.at.Sub(begun), 100*time.Millisecond+far; got != want {
			t.Errorf("another client waited for %v, want %v", got, want)
		}
		release(t, other.must(t))
		wantOwnNode(t, first, soon(t, waiter).must(t))
	})
}

// A contender of another process waits for the end of the present hold, and for as many more as AfterDemand says.
func TestOthersWaitForThePresentHold(t *testing.T) {
	for _, test := range []struct {
		after      int
		hold, want time.Duration
	}{
		{0, time.Millisecond, time.Millisecond},
		{0, 30 * time.Millisecond, 30 * time.Millisecond},
		{0, time.Second, time.Second},
		{2, time.Millisecond, 3 * time.Millisecond},
		{2, 90 * time.Millisecond, 270 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("%v and %d more", test.hold, test.after), func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p, remote := newPeer(t, server), newPeer(t, server)
				mutex := retained(p, locks.RetainAfterDemand(test.after))
				last := acquire(t, mutex)
				var local []<-chan result
				for range 20 {
					local = append(local, begin(t.Context(), t, mutex))
				}
				for i := range 5 { // it is known that no other client waits
					release(t, last)
					last = soon(t, local[i]).must(t)
				}
				synctest.Wait()
				begun := time.Now()
				waiter := begin(t.Context(), t, remote.mutex())
				var holds sync.WaitGroup
				holds.Go(func() {
					for _, next := range local[5:] {
						time.Sleep(test.hold)
						release(t, last)
						last = soon(t, next).must(t)
					}
					release(t, last)
				})
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
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := retained(p)
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

// A chain of short holds is one long hold to the servers: its node is watched, once, and read once; so is the
// directory.
func TestTheNodeOfAChainIsWatchedOnce(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := retained(p)
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
		if got, want := p.link.Requests(), (map[lockstest.Op]int{lockstest.GetData: 1, lockstest.GetChildren: 1}); !maps.Equal(got, want) {
			t.Errorf("it sent %v, want %v", got, want)
		}
	})
}

// The node has the inner lease until that is released, too; and after the hand-over the context of the old hold is no
// key to the new one.
func TestReentryAndHandover(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := retained(p)
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
			t.Errorf("got owned by the last: %t, by the next: %t, acquired: %t; want false, true, true",
				mutex.IsOwnedBy(inside(t, outer)), mutex.IsOwnedBy(inside(t, next)), mutex.IsAcquiredInThisProcess())
		}
		wantErr(t, outer.Release(), locks.ErrReleased)
		wantErr(t, inner.Release(), locks.ErrReleased)
		_, err := p.Transaction(t.Context(), inner.Check())
		wantErr(t, err, locks.ErrReleased)
		isAlive(t, next)
		again := acquireIn(inside(t, next), t, mutex)
		if again.FencingCount() != next.FencingCount() {
			t.Errorf("a re-entry has count %d, its owner %d", again.FencingCount(), next.FencingCount())
		}
	})
}

func TestMisuseOfARetainedLockIsReportedByTheFirstCall(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for name, lock := range map[string]locks.Lock{
			"no option":      p.mutex().Retained(nil),
			"less than none": retained(p, locks.RetainHandOvers(-1)),
			"no time":        retained(p, locks.RetainBusy(-1)),
			"no idle time":   retained(p, locks.RetainIdle(-1)),
			"no demand":      retained(p, locks.RetainAfterDemand(-1)),
			"misuse of it":   locks.NewInterProcessMutex(p.Client, "no path").Retained(),
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
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		multi := locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(p.Client, "/a").Retained(),
			locks.NewInterProcessMutex(p.Client, "/b").Retained())
		first := acquire(t, multi)
		waiter := begin(t.Context(), t, multi)
		release(t, first)
		next := soon(t, waiter).must(t)
		wantHandedOver(t, first.Parts()[0], next.Parts()[0])
		wantOwnNode(t, first.Parts()[1], next.Parts()[1]) // no contender waited for it when it was released
		if next.FencingCount() != 0 {
			t.Errorf("a multi-lock's count is %d", next.FencingCount())
		}
	})
}

func TestTraceTellsOfHandovers(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		var mu sync.Mutex
		var told []string
		tell := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf(format, args...))
		}
		p := newPeer(t, server)
		traced := func(name string) locks.Lock {
			return p.mutex(locks.WithTrace(locks.Trace{
				Waiting: func(_ context.Context, w locks.Waiting) {
					tell("%s: waiting behind %d, local %v, own client %v", name, w.Ahead, w.Local, w.OwnClient)
				},
				AcquireEnd: func(_ context.Context, e locks.AcquireEnd) {
					tell("%s: count %d, hand-over %v", name, e.FencingCount, e.HandOver)
				},
				Released: func(r locks.Released) { tell("%s: held for %v, handed over %v", name, r.Held, r.HandedOver) },
			})).Retained()
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
			t.Errorf("got the calls %q, want %v", told, want)
		}
	})
}
