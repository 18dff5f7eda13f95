package locks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

const (
	leasesPath = path + "/leases"
	gatePath   = path + "/locks"
)

func semaphore(p *peer, limit int, opts ...locks.Option) *locks.InterProcessSemaphoreV2 {
	return locks.NewInterProcessSemaphoreV2(p.Client, path, limit, opts...)
}

// acquireN gets leases, which are released at the end of the test unless they were before.
func acquireN(t *testing.T, s *locks.InterProcessSemaphoreV2, n int) []*locks.Lease {
	t.Helper()
	leases, err := s.AcquireN(t.Context(), n)
	must(t, err)
	if len(leases) != n {
		t.Fatalf("got %d leases, want %d", len(leases), n)
	}
	t.Cleanup(func() { _ = locks.ReleaseAll(leases...) })
	return leases
}

// several makes a Lock of an AcquireN, for begin: its lease is the last of the leases.
type several struct {
	*locks.InterProcessSemaphoreV2
	n      int
	leases []*locks.Lease
}

func (s *several) Acquire(ctx context.Context) (*locks.Lease, error) {
	leases, err := s.AcquireN(ctx, s.n)
	if err != nil {
		return nil, err
	}
	s.leases = leases
	return leases[s.n-1], nil
}

// wantEmpty checks that nothing of the semaphore is left.
func wantEmpty(t *testing.T, server *zktest.Server) {
	t.Helper()
	wantNodes(t, server, leasesPath, "", 0)
	wantNodes(t, server, gatePath, "", 0)
}

// Curator: testSimple, testSimple2.
func TestNoMoreLeasesThanTheLimit(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		var held []*locks.Lease
		for range 3 {
			held = append(held, acquire(t, semaphore(p, 3)))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := semaphore(p, 3).Acquire(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		wantNodes(t, server, leasesPath, "", 3)
		release(t, held[1])
		release(t, acquire(t, semaphore(p, 3)))
	})
}

func TestLeasesGoToTheEarliestContender(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		held := acquireN(t, semaphore(p, 2), 2)
		big := &several{InterProcessSemaphoreV2: semaphore(other, 2), n: 2}
		first := begin(t.Context(), t, big)
		second := begin(t.Context(), t, semaphore(p, 2))
		release(t, held[0])
		isWaiting(t, first)
		isWaiting(t, second) // it wants less, but came later
		release(t, held[1])
		last := (<-first).must(t)
		isWaiting(t, second)
		release(t, last)
		release(t, (<-second).must(t))
		release(t, big.leases[0])
		wantEmpty(t, server)
	})
}

// Two contenders want all leases: each has them once, and not a part of them each.
func TestWholeQuantityIsAcquiredAtTheGate(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		done := make(chan error, 5)
		for range 5 {
			p := newPeer(t, server)
			go func() {
				for range 10 {
					leases, err := semaphore(p, 4).AcquireN(t.Context(), 4)
					if err != nil {
						done <- err
						return
					}
					time.Sleep(time.Millisecond)
					if err := locks.ReleaseAll(leases...); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range 5 {
			wantErr(t, <-done)
		}
		wantEmpty(t, server)
	})
}

func TestAllLeasesOrNoneWithinOneDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		held := acquireN(t, semaphore(p, 5), 3)
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		leases, err := semaphore(other, 5).AcquireN(ctx, 4)
		wantErr(t, err, context.DeadlineExceeded)
		if took := time.Since(begun); took != 3*time.Second || leases != nil {
			t.Errorf("%v after %v", leases, took)
		}
		var failure *locks.AcquireError
		if !errors.As(err, &failure) || failure.Ahead != 1 {
			t.Errorf("it does not say that one lease too many is taken: %v", err)
		}
		wantNodes(t, server, leasesPath, "", 3)
		wantNodes(t, server, gatePath, "", 0)
		wantErr(t, locks.ReleaseAll(held...))
	})
}

func TestQuantitiesThatCannotBeAreRefusedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		for _, n := range []int{-1, 0, 4} {
			for _, acquire := range []func(context.Context, int) ([]*locks.Lease, error){
				semaphore(p, 3).AcquireN, semaphore(p, 3).TryAcquireN,
			} {
				leases, err := acquire(t.Context(), n)
				if err == nil || errors.Is(err, locks.ErrNotAcquired) {
					t.Errorf("%d: %v, %v", n, leases, err)
				}
			}
		}
		for _, limit := range []int{-1, 0} {
			if lease, err := semaphore(p, limit).Acquire(t.Context()); err == nil {
				t.Errorf("limit %d: %v", limit, lease)
			}
		}
		if sent := p.link.Requests(); len(sent) > 0 {
			t.Errorf("not without I/O: %v", sent)
		}
	})
}

func TestSemaphoreIsNotReentrant(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		outer := acquire(t, semaphore(p, 2))
		inner := acquireIn(outer.Context(t.Context()), t, semaphore(p, 2))
		wantNodes(t, server, leasesPath, "", 2)
		_, err := semaphore(p, 2).TryAcquire(inner.Context(t.Context()))
		wantErr(t, err, locks.ErrNotAcquired)
		release(t, outer)
		if inner.Err() != nil {
			t.Error(inner.Err())
		}
	})
}

// Curator: testGetParticipantNodes, setNodeData.
func TestParticipantsAreTheLeases(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		s := semaphore(p, 3, locks.WithLockData([]byte("mine")))
		if got, err := s.Participants(t.Context()); !errors.Is(err, zk.ErrNoNode) {
			t.Errorf("before there is a node: %v, %v", got, err)
		}
		must(t, server.Create("/locks", nil))
		must(t, server.Create(path, nil))
		if got, err := s.Participants(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("before there is a lease: %v, %v", got, err)
		}
		held := acquireN(t, s, 3)
		ctx, cancel := context.WithCancel(t.Context())
		waiter := begin(ctx, t, s)
		got, err := s.Participants(t.Context())
		if err != nil || len(got) != len(held)+1 {
			t.Fatalf("%v, %v", got, err)
		}
		for i, one := range got {
			if want := i < len(held); one.Holds != want {
				t.Errorf("participant %d: got a lease that is held %t, want %t", i, one.Holds, want)
			}
		}
		cancel()
		wantErr(t, soon(t, waiter).err, context.Canceled)
		got = got[:len(held)]
		for i, one := range got {
			if one.Path != leasesPath+"/"+held[i].NodeName() || one.Token != held[i].FencingToken() || string(one.Data) != "mine" {
				t.Errorf("%d: %+v", i, one)
			}
		}
		if !s.IsAcquiredInThisProcess() || semaphore(newPeer(t, server), 3).IsAcquiredInThisProcess() {
			t.Errorf("got %t for the client that holds leases, or true for another one; want true, false",
				s.IsAcquiredInThisProcess())
		}
	})
}

// The gate's node has no lock data: that belongs to leases.
func TestLockDataIsThatOfLeases(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		acquire(t, semaphore(p, 1))
		waiter := begin(t.Context(), t, semaphore(p, 1, locks.WithLockData([]byte("mine"))))
		isWaiting(t, waiter)
		gate := server.Children(gatePath)
		if data, _ := server.Data(gatePath + "/" + gate[0]); len(gate) != 1 || string(data) == "mine" {
			t.Errorf("%v has %q", gate, data)
		}
		wantErr(t, p.Close())
		<-waiter
	})
}

// Curator: testMaxPerSession, testRelease1AtATime, testReleaseInChunks, testThreads.
func TestNeverMoreThanTheLimitAreIn(t *testing.T) {
	for _, test := range []struct{ clients, each, limit, most, rounds int }{
		{clients: 10, each: 1, limit: 5, most: 1, rounds: 10},
		{clients: 10, each: 1, limit: 5, most: 5, rounds: 20},
		{clients: 1, each: 10, limit: 1, most: 1, rounds: 5},
		{clients: 5, each: 10, limit: 11, most: 4, rounds: 5},
	} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				var mu sync.Mutex
				in, peak := 0, 0
				enter := func(n int) {
					mu.Lock()
					defer mu.Unlock()
					in += n
					peak = max(peak, in)
				}
				done := make(chan error, test.clients*test.each)
				work := func(p *peer, random *rand.Rand) error {
					for range test.rounds {
						leases, err := semaphore(p, test.limit).AcquireN(t.Context(), 1+random.IntN(test.most))
						if err != nil {
							return err
						}
						enter(len(leases))
						for _, lease := range leases {
							time.Sleep(time.Duration(1+random.IntN(20)) * time.Millisecond)
							enter(-1)
							if err := lease.Release(); err != nil {
								return err
							}
						}
					}
					return nil
				}
				for c := range test.clients {
					p := newPeer(t, server)
					for g := range test.each {
						go func() { done <- work(p, rand.New(rand.NewPCG(uint64(c), uint64(g)))) }()
					}
				}
				for range cap(done) {
					wantErr(t, <-done)
				}
				if peak != test.limit || in != 0 {
					t.Errorf("at most %d were in, at the end %d; the limit is %d", peak, in, test.limit)
				}
				wantEmpty(t, server)
			})
		})
	}
}

// From a release to the lease of the one who waits: an event, and the listing that comes with the watch that is set
// again.
func TestSemaphoreHandsOverWithinOneRoundTripAndAHalf(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, semaphore(newPeer(t, server), 1))
		p, third := newPeer(t, server), newPeer(t, server)
		waiter := begin(t.Context(), t, semaphore(p, 1))
		next := begin(t.Context(), t, semaphore(third, 1))
		settle()
		p.cable.SetLatency(oneWay)
		p.link.Requests()
		third.link.Requests()
		begun := time.Now()
		release(t, held)
		r := <-waiter
		if took := r.at.Sub(begun); took != oneWay+roundTrip {
			t.Errorf("it took %v, want %v", took, oneWay+roundTrip)
		}
		isWaiting(t, next)
		if got := p.link.Requests(); got[lockstest.GetChildren] != 1 || got[lockstest.GetData] != 0 {
			t.Errorf("it sent %v", got)
		}
		release(t, r.must(t))
		release(t, (<-next).must(t))
	})
}

// A wait for leases reads what it watches when it has lasted for one session timeout, two, four and so on: its nodes,
// in the gate and among the leases, the one ahead in the gate, and the leases. It asks for nothing else.
func TestWaitingForLeasesAsksForLittle(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		acquire(t, semaphore(newPeer(t, server), 1))
		p := newPeer(t, server)
		ctx, cancel := context.WithCancel(t.Context())
		front := begin(ctx, t, semaphore(p, 1))
		behind := begin(ctx, t, semaphore(p, 1))
		settle()
		p.link.Requests()
		time.Sleep(time.Hour)
		n := readsAgain(time.Hour)
		if sent := p.link.Requests(); len(sent) != 2 || sent[lockstest.GetData] != 3*n || sent[lockstest.GetChildren] != n {
			t.Errorf("it sent %v, want %d times three reads and a listing", sent, n)
		}
		cancel()
		wantErr(t, (<-front).err, context.Canceled)
		wantErr(t, (<-behind).err, context.Canceled)
		wantNodes(t, server, gatePath, "", 0)
		wantNodes(t, server, leasesPath, "", 1)
	})
}
