package counters_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
	"github.com/gocurator/curator/recipes/locks"
)

// contend lets another client write right before each of so many writes, which lose their races by it.
func contend(t *testing.T, server *zktest.Server, races int) {
	t.Helper()
	before(t, server, zktest.OpMulti, func(nth int) {
		if nth <= races {
			number(t, server, int64(100*nth))
		}
	})
}

func TestAnAddQueuesAfterThreeLostRaces(t *testing.T) {
	for races := range 6 {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			number(t, server, 0)
			l, _ := newLong(t, server, counters.WithLock(lockPath))
			contend(t, server, races)
			queued := server.CountRequests(zktest.Match{Op: zktest.OpCreate2, Path: lockPath + "/*"})
			wantAdd(t, l, 1, int64(100*races), int64(100*races+1))
			want := 0
			if races >= 3 {
				want = 1
			}
			if got := queued(); got < want || want == 0 && got != 0 || len(server.Children(lockPath)) > 0 {
				t.Errorf("%d races: got %d lock nodes made, %q left, want %d and none", races, got, server.Children(lockPath), want)
			}
		})
	}
}

// Others wait for the one that has the lock.
func TestAnAddUnderTheLockBeginsWithoutPauses(t *testing.T) {
	for races, want := range map[int][2]time.Duration{2: {0, 10 * time.Millisecond}, 8: {60 * time.Millisecond, 200 * time.Millisecond}} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			number(t, server, 0)
			l, _ := newLong(t, server, counters.WithLock(lockPath))
			contend(t, server, races)
			began := time.Now()
			wantAdd(t, l, 1, int64(100*races), int64(100*races+1))
			if took := time.Since(began); took < want[0] || took > want[1] {
				t.Errorf("%d lost races: got %v, want %v", races, took, want)
			}
		})
	}
}

func TestAnAddWithoutWithLockNeverQueues(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 0)
		l, _ := newLong(t, server)
		contend(t, server, 20)
		creates := server.Counts()[zktest.OpCreate2]
		wantAdd(t, l, 1, 2000, 2001)
		if n := server.Counts()[zktest.OpCreate2] - creates; n != 0 {
			t.Errorf("got %d creates, want none", n)
		}
	})
}

// hold acquires the counter's lock with a client of its own.
func hold(t *testing.T, server *zktest.Server) *locks.Lease {
	t.Helper()
	client, _ := newClient(t, server)
	lease, err := locks.NewInterProcessMutex(client, lockPath).Acquire(t.Context())
	must(t, err)
	return lease
}

func TestAnAddThatQueuesWaitsForTheLockAndOthersPass(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 0)
		lease := hold(t, server)
		l, _ := newLong(t, server, counters.WithLock(lockPath))
		other, _ := newLong(t, server, counters.WithLock(lockPath))
		contend(t, server, 3)
		done := add(t.Context(), l, 1)
		time.Sleep(time.Minute)
		wantAdd(t, other, 5, 300, 305)
		select {
		case got := <-done:
			t.Fatalf("got %+v, want it to wait for the lock", got)
		default:
		}
		must(t, lease.Release())
		if got := <-done; got != (added{305, 306, nil}) {
			t.Errorf("got %+v, want it counted under the lock", got)
		}
	})
}

func TestAnAddWhoseContextEndsInTheQueueIsCertainAndLeavesIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 0)
		lease := hold(t, server)
		l, _ := newLong(t, server, counters.WithLock(lockPath))
		contend(t, server, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, _, err := l.Add(ctx, 1)
		wantCertain(t, err, context.DeadlineExceeded)
		var acquire *locks.AcquireError
		if !errors.As(err, &acquire) || acquire.Path != lockPath {
			t.Errorf("got %v, want an AcquireError of the lock", err)
		}
		synctest.Wait()
		if nodes := server.Children(lockPath); !slices.Equal(nodes, []string{lease.NodeName()}) {
			t.Errorf("got lock nodes %q, want the holder's alone", nodes)
		}
		must(t, lease.Release())
		wantNumber(t, server, 300)
	})
}

// An operator deletes its lock node, for instance. The Add goes on, and queues again when it loses another race.
func TestAnAddThatLosesItsLeaseQueuesAgainAfterTheNextLostRace(t *testing.T) {
	for name, test := range map[string]struct{ races, want int }{
		"no further race":    {8, 1},
		"another lost race":  {9, 2},
		"several lost races": {12, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				number(t, server, 0)
				l, _ := newLong(t, server, counters.WithLock(lockPath))
				nodes := map[string]bool{}
				before(t, server, zktest.OpMulti, func(nth int) {
					for _, node := range server.Children(lockPath) {
						nodes[node] = true
					}
					if nth == 9 { // under the lock, and after the 50 ms for which a lease does not watch its node
						for _, node := range server.Children(lockPath) {
							if err := server.Delete(lockPath + "/" + node); err != nil {
								t.Error(err)
							}
						}
					}
					if nth <= test.races {
						number(t, server, int64(100*nth))
					}
				})
				wantAdd(t, l, 1, int64(100*test.races), int64(100*test.races+1))
				synctest.Wait()
				if len(nodes) != test.want || len(server.Children(lockPath)) != 0 {
					t.Errorf("got lock nodes %v, left %q, want %d, none left", nodes, server.Children(lockPath), test.want)
				}
			})
		})
	}
}

func TestAnAddThatFailsUnderTheLockReleasesIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 0)
		l, _ := newLong(t, server, counters.WithLock(lockPath))
		before(t, server, zktest.OpMulti, func(nth int) {
			number(t, server, int64(100*nth))
			if nth == 4 {
				put(t, server, []byte("not eight bytes"))
			}
		})
		_, _, err := l.Add(t.Context(), 1)
		wantCertain(t, err, counters.ErrNotACounter)
		if nodes := server.Children(lockPath); len(nodes) > 0 {
			t.Errorf("got lock nodes %q, want none", nodes)
		}
	})
}

// Each of twenty clients adds for itself, at a link with a latency, so that most writes lose.
func TestAddsOfManyClientsAllCount(t *testing.T) {
	for name, opts := range map[string][]counters.Option{"": nil, "with a lock": {counters.WithLock(lockPath)}} {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			const clients, adds = 20, 10
			var group sync.WaitGroup
			var mu sync.Mutex
			given := map[int64]bool{}
			for range clients {
				l, link := newLong(t, server, opts...)
				link.SetLatency(time.Millisecond)
				group.Go(func() {
					for range adds {
						before, after, err := l.Add(t.Context(), 1)
						mu.Lock()
						if err != nil || after != before+1 || given[after] {
							t.Errorf("got %d, %d, %v, given out before: %v", before, after, err, given[after])
						}
						given[after] = true
						mu.Unlock()
					}
				})
			}
			began := time.Now()
			group.Wait()
			t.Logf("%d adds of %d clients %s: %v", clients*adds, clients, name, time.Since(began))
			wantNumber(t, server, clients*adds)
		})
	}
}
