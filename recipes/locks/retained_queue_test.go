package locks_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// Locks of one client that were set up alike share a line, whatever object or facade they are; others wait at the
// servers.
func TestLocksThatAreSetUpAlikeShareALine(t *testing.T) {
	for name, test := range map[string]struct {
		opts   []locks.Option
		retain []locks.RetainOption
		plain  bool
		shares bool
	}{
		"alike":               {shares: true},
		"with a trace":        {opts: []locks.Option{locks.WithTrace(locks.Trace{})}, shares: true},
		"with the defaults":   {retain: []locks.RetainOption{locks.RetainHandOvers(64), locks.RetainBusy(100 * time.Millisecond)}, shares: true},
		"not retained":        {plain: true},
		"another number":      {retain: []locks.RetainOption{locks.RetainHandOvers(99)}},
		"another time":        {retain: []locks.RetainOption{locks.RetainBusy(time.Second)}},
		"another idle time":   {retain: []locks.RetainOption{locks.RetainIdle(time.Second)}},
		"another demand":      {retain: []locks.RetainOption{locks.RetainAfterDemand(1)}},
		"other data":          {opts: []locks.Option{locks.WithLockData([]byte("x"))}},
		"no data at all":      {opts: []locks.Option{locks.WithLockData(nil)}},
		"other extra markers": {opts: []locks.Option{locks.WithExtraMarkers("x-")}},
	} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				first := acquire(t, retained(p))
				var other locks.Lock = locks.NewInterProcessMutex(p.UsingNamespace("locks"), "/a", test.opts...)
				if !test.plain {
					other = retaining(other, test.retain...)
				}
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

func TestALocalWaiterThatGivesUpLeavesTheLine(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := retained(p)
		first := acquire(t, mutex)
		p.link.Segments()
		ctx, cancel := context.WithCancel(t.Context())
		waiters := []<-chan result{begin(t.Context(), t, mutex), begin(ctx, t, mutex), begin(t.Context(), t, mutex)}
		cancel()
		r := <-waiters[1]
		var failed *locks.AcquireError
		if !errors.As(r.err, &failed) || failed.Ahead != 2 || !failed.OwnClient || failed.Node != "" || !errors.Is(r.err, context.Canceled) {
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

// A waiter that gives up leaves its place at the servers to the next one of its client.
func TestAPlaceAtTheServersIsLeftToTheNext(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, remote := newPeer(t, server), newPeer(t, server)
		held := acquire(t, remote.mutex())
		mutex := retained(p)
		ctx, cancel := context.WithCancel(t.Context())
		front := begin(ctx, t, mutex)
		node := ownNode(t, server, p, path)
		later := begin(t.Context(), t, remote.mutex())
		gone, giveUp := context.WithCancel(t.Context())
		middle := begin(gone, t, mutex)
		var told []string
		last := begin(t.Context(), t, locks.NewInterProcessMutex(p.UsingNamespace("locks"), "/a",
			locks.WithTrace(locks.Trace{Waiting: func(_ context.Context, w locks.Waiting) { told = append(told, w.Path+" "+w.Node) }})).Retained())
		cancel()
		wantErr(t, soon(t, front).err, context.Canceled)
		synctest.Wait()
		giveUp()
		r := soon(t, middle)
		wantErr(t, r.err, context.Canceled)
		var failed *locks.AcquireError
		if !errors.As(r.err, &failed) || failed.Ahead != 1 || path+"/"+failed.Node != node || failed.OwnClient {
			t.Errorf("it fails with %#v", r.err)
		}
		isWaiting(t, last)
		if got := ownNode(t, server, p, path); got != node {
			t.Errorf("the place is %s, it was %s", got, node)
		}
		release(t, held)
		lease := soon(t, last).must(t)
		if want := []string{"/a ", "/a " + lease.NodeName()}; lease.Path() != "/a" || !slices.Equal(told, want) {
			t.Errorf("the lease on %s: got the waits %q, want %q", lease.Path(), told, want)
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
			must(t, err)
			expire(server, session.ID())
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p, remote := newPeer(t, server), newPeer(t, server)
				held := acquire(t, remote.mutex())
				mutex := retained(p)
				ctx, cancel := context.WithCancel(t.Context())
				begin(ctx, t, mutex)
				last := begin(t.Context(), t, mutex)
				goOn := server.HoldRequest(zktest.Match{Op: zktest.OpGetChildren2, Session: sessionID(t, p)})
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
	must(t, err)
	return session.ID()
}

func TestTryAcquireDoesNotOvertakeTheLocalLine(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, remote := newPeer(t, server), newPeer(t, server)
		mutex := retained(p)
		try := func() {
			t.Helper()
			synctest.Wait() // a retained lock that was let in listens for demand
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
		must(t, err)
		waiter = begin(t.Context(), t, mutex)
		release(t, lease)
		wantHandedOver(t, lease, soon(t, waiter).must(t))
	})
}

// While one goroutine only tries, another comes that waits.
func TestATryThatFailsPassesTheLineOn(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		p, remote := newPeer(t, server), newPeer(t, server)
		held := acquire(t, remote.mutex())
		mutex := retained(p)
		p.cable.SetLatency(oneWay)
		tried := make(chan error, 1)
		go func() {
			_, err := mutex.TryAcquire(t.Context())
			tried <- err
		}()
		synctest.Wait() // its request is on the way
		waiter := begin(t.Context(), t, mutex)
		isWaiting(t, waiter)
		wantErr(t, <-tried, locks.ErrNotAcquired)
		settle()
		release(t, held)
		soon(t, waiter).must(t)
	})
}

// Everything that ends a wait at the very moment at which something else does.
func TestNoHandoverIsLost(t *testing.T) {
	for seed := range uint64(30) {
		inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
			p, remote := newPeer(t, server), newPeer(t, server)
			p.cable.SetLatency(time.Millisecond)
			mutex := retained(p, locks.RetainHandOvers(3))
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

func TestALocalWaiterLearnsHowManyAreAhead(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		lock := retained(p)
		held := acquire(t, lock)
		var line []<-chan result
		for range 3 {
			line = append(line, begin(t.Context(), t, lock))
		}
		_, err := lock.TryAcquire(t.Context())
		var failed *locks.AcquireError
		if !errors.As(err, &failed) || failed.Ahead != 4 {
			t.Errorf("%v", err)
		}
		release(t, held)
		for _, w := range line {
			release(t, soon(t, w).must(t))
		}
	})
}
