package locks_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/recipes/locks"
)

// lastNumber is the greatest number that a contender may have.
const lastNumber = math.MaxInt32 - 1<<16

// Where numbers end as at real servers, contenders that come together get negative ones, which sort before the
// holder's. None of them may be let in beside another, and no node may remain of those that are refused.
func TestNoTwoHoldALockAtTheEndOfItsCounter(t *testing.T) {
	for _, start := range []int32{lastNumber - 20, math.MaxInt32 - 20, math.MaxInt32} {
		t.Run(fmt.Sprint(start), func(t *testing.T) {
			inBubble(t, func(t *testing.T, _ *zktest.Server) {
				server := zktest.New(t, zktest.WithCommitTime(5*time.Millisecond))
				first := newPeer(t, server)
				release(t, acquire(t, first.mutex()))
				server.SetCreateCounter(path, start)
				var inside, overlaps, got, refused atomic.Int32
				var group sync.WaitGroup
				for range 5 {
					p := newPeer(t, server)
					p.cable.SetLatency(time.Millisecond)
					for range 4 {
						group.Go(func() {
							for range 20 {
								lease, err := p.mutex().Acquire(t.Context())
								if errors.Is(err, locks.ErrCounterExhausted) {
									refused.Add(1)
									time.Sleep(7 * time.Second)
									continue
								}
								if err != nil {
									t.Error(err)
									return
								}
								got.Add(1)
								if inside.Add(1) > 1 {
									overlaps.Add(1)
								}
								time.Sleep(2 * time.Millisecond)
								inside.Add(-1)
								wantErr(t, lease.Release())
							}
						})
					}
				}
				group.Wait()
				if overlaps.Load() > 0 {
					t.Errorf("%d of %d grants overlapped", overlaps.Load(), got.Load())
				}
				if refused.Load() == 0 || start > lastNumber && got.Load() == 400 {
					t.Errorf("%d were granted, %d refused", got.Load(), refused.Load())
				}
				if start < lastNumber && got.Load() < 20 {
					t.Errorf("%d were granted, there were 21 numbers", got.Load())
				}
				t.Logf("%d granted, %d refused", got.Load(), refused.Load())
			})
		})
	}
}

// A refused contender would take a further number, and its node would keep the directory. So for a minute it asks for
// nothing; the empty directory goes, and the lock is there again.
func TestADirectoryWhoseCounterHasEndedIsLeftAloneForAMinute(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		holder, waiter := acquire(t, p.mutex()), begin(t.Context(), t, p.mutex())
		isWaiting(t, waiter)
		server.SetCreateCounter(path, lastNumber+1)
		if _, err := p.mutex().Acquire(t.Context()); !errors.Is(err, locks.ErrCounterExhausted) {
			t.Fatalf("got %v, want ErrCounterExhausted", err)
		}
		time.Sleep(time.Second)
		if left := server.Children(path); len(left) != 2 {
			t.Errorf("beside the holder and the waiter there is more: %q", left)
		}
		created := server.Counts()[zktest.OpCreate2]
		listed := server.Counts()[zktest.OpGetChildren2]
		for name, try := range map[string]func(context.Context) (*locks.Lease, error){
			"Acquire": p.mutex().Acquire, "TryAcquire": p.mutex().TryAcquire,
		} {
			if _, err := try(t.Context()); !errors.Is(err, locks.ErrCounterExhausted) {
				t.Errorf("%s: got %v, want ErrCounterExhausted", name, err)
			}
		}
		if n, m := server.Counts()[zktest.OpCreate2]-created, server.Counts()[zktest.OpGetChildren2]-listed; n+m != 0 {
			t.Errorf("they created %d nodes and listed the queue %d times", n, m)
		}
		again, err := p.mutex().Acquire(holder.Context(t.Context()))
		if err != nil {
			t.Fatalf("the holder re-enters: %v", err)
		}
		release(t, again)
		release(t, holder)
		release(t, soon(t, waiter).must(t))
		time.Sleep(58 * time.Second)
		if server.Exists(path) {
			t.Error("got the directory, want it removed")
		}
		if _, err := p.mutex().Acquire(t.Context()); !errors.Is(err, locks.ErrCounterExhausted) {
			t.Errorf("before the minute is over: %v", err)
		}
		time.Sleep(2 * time.Second)
		release(t, acquire(t, p.mutex()))
	})
}

func TestADirectoryWhoseCounterHasEndedIsForgottenAfterAMinute(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		release(t, acquire(t, p.mutex()))
		server.SetCreateCounter(path, lastNumber+1)
		_, err := p.mutex().Acquire(t.Context())
		wantErr(t, err, locks.ErrCounterExhausted)
		time.Sleep(59 * time.Second)
		if got := journaltest.Left(events.Events()); len(got) != 1 || !strings.Contains(got[0], "refusal") {
			t.Errorf("within the minute: got %q left, want the refusal", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := journaltest.Left(events.Events()); len(got) != 0 {
			t.Errorf("after the minute: got %q left, want nothing", got)
		}
	})
}

// Leases are counted, not put in order; only those who wait for them stand in a queue.
func TestASemaphoreOutlivesTheCounterOfItsLeases(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *zktest.Server) {
		server := zktest.New(t, zktest.WithCommitTime(time.Second))
		p := newPeer(t, server)
		semaphore := locks.NewInterProcessSemaphoreV2(p.Client, path, 2)
		release(t, acquire(t, semaphore))
		server.SetCreateCounter(path+"/leases", math.MaxInt32)
		for range 3 {
			first, second := acquire(t, semaphore), acquire(t, semaphore)
			if _, err := semaphore.TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
				t.Errorf("a third lease of two: %v", err)
			}
			waiter := begin(t.Context(), t, semaphore)
			isWaiting(t, waiter)
			release(t, first)
			release(t, soon(t, waiter).must(t))
			release(t, second)
		}
		server.SetCreateCounter(path+"/locks", math.MaxInt32)
		if _, err := semaphore.Acquire(t.Context()); !errors.Is(err, locks.ErrCounterExhausted) {
			t.Errorf("at the end of the queue's counter: got %v, want ErrCounterExhausted", err)
		}
	})
}
