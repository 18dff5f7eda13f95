package locks

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/recipes/internal/steps"
)

// A waiter was chosen for a node that is then lost, and its context ends meanwhile. Another acquire of the client has
// the lock, for as long as it likes: the waiter must not wait for its release.
func TestWaiterWhoseContextEndsWhileItsNodeIsLostReturnsAtOnce(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		first := t.acquire()
		ctx, cancel := context.WithCancel(t.Context())
		waiter, next := t.begin(ctx), t.begin(t.Context())
		time.Sleep(60 * time.Millisecond) // the node is watched
		t.meanwhile(steps.Chosen, func() {
			_ = t.server.Delete(first.grant.Node)
			synctest.Wait() // the queue is passed on to the other
			cancel()
			synctest.Wait() // the waiter is in no queue, and waits for the baton
		})
		t.release(first)
		synctest.Wait()
		select {
		case a := <-waiter:
			if !errors.Is(a.err, context.Canceled) {
				t.Errorf("got %v, %v, want %v", a.lease, a.err, context.Canceled)
			}
		default:
			t.Error("got no return of Acquire although its context has ended, want one")
		}
		held := t.get(next)
		last := t.begin(t.Context())
		t.release(held)
		lease := t.get(last)
		if lease.FencingToken() != held.FencingToken() {
			t.Errorf("got token %d, want %d: the other acquire is the front, and hands its node over", lease.FencingToken(), held.FencingToken())
		}
		t.release(lease)
		time.Sleep(time.Minute)
	})
}

// An idle node is lost while a try that waited for the decision about it gets it. The try waits behind no hold.
func TestTryWhoseNodeIsLostOnTheWay(t *testing.T) {
	for name, test := range map[string]struct {
		at      steps.Kind
		another bool // an acquire waits behind the try
		want    error
	}{
		"before its hold, another waits": {steps.Chosen, true, ErrNotAcquired},
		"before its hold, none waits":    {steps.Chosen, false, nil},
		"after its hold, another waits":  {steps.Handed, true, ErrNotAcquired},
		"after its hold, none waits":     {steps.Handed, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inHandoverTest(t, func(t *handoverTest) {
				t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Minute))
				for range 2 {
					t.release(t.acquire())
				}
				last := t.acquire()
				time.Sleep(60 * time.Millisecond) // the node is watched
				tried := make(chan acquired, 1)
				var other <-chan acquired
				var decisions atomic.Int32
				var lost atomic.Bool
				t.act(func(after steps.Kind) {
					if after == steps.Judged {
						decisions.Add(1)
					}
					switch {
					case after == steps.Judged && decisions.Load() == 2: // the first is the release's
						go func() {
							lease, err := t.mutex.TryAcquire(t.Context())
							tried <- acquired{lease, err}
						}()
						synctest.Wait()
						if test.another {
							other = t.begin(t.Context())
						}
					case after == test.at && !lost.Swap(true):
						_ = t.server.Delete(last.grant.Node)
						synctest.Wait()
					}
				})
				t.release(last)
				time.Sleep(10 * time.Second) // the idle node is looked at
				synctest.Wait()
				if !lost.Load() {
					t.Fatal("got no loss on the way, want one")
				}
				begun := time.Now()
				a := <-tried
				if waited := time.Since(begun); waited > 0 || !errors.Is(a.err, test.want) {
					t.Errorf("got %v, %v after further %v, want %v before", a.lease, a.err, waited, test.want)
				}
				if test.another {
					a = <-other
				}
				if a.err != nil || a.lease.FencingToken() <= last.FencingToken() {
					t.Fatalf("got %v, %v, want a lease of a later node than %v", a.lease, a.err, last)
				}
				t.release(a.lease)
				time.Sleep(2 * time.Minute)
			})
		})
	}
}

// Another client is known to wait, and the idle node's residence has not decided yet. A try does not overtake that
// client; an acquire may, within AfterDemand.
func TestTryOfAnIdleNodeThatAnotherClientWantsDoesNotTakeIt(t *testing.T) {
	for try, want := range map[bool]bool{true: false, false: true} {
		inHandoverTest(t, func(t *handoverTest) {
			t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Minute), RetainAfterDemand(1))
			for range 3 {
				t.release(t.acquire())
			}
			r := retainedQueuesOf(t.client).takeKept(t.mutex.key)
			r.demanded.Store(true)
			g := r.admitTo(&t.mutex.recipe, try)
			if got := g != nil; got != want {
				t.Errorf("try %t: got the node: %t, want %t", try, got, want)
			}
			if g != nil {
				t.mutex.drop(g)
			}
			time.Sleep(time.Minute)
		})
	}
}

// A try waits for the decision about an idle node. An acquire that was chosen for a node that was lost is put back: it
// may hold the lock for any time, so the try does not wait behind it.
func TestTryDoesNotWaitBehindAnAcquireThatIsPutBack(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		queues := retainedQueuesOf(t.client)
		queues.mu.Lock()
		q := queues.findLocked(t.mutex.key)
		q.busy, q.unheld = true, true
		queues.mu.Unlock()
		got := make(chan acquired, 1)
		go func() {
			lease, err := t.mutex.TryAcquire(t.Context())
			got <- acquired{lease, err}
		}()
		synctest.Wait() // the try is in the local queue
		w := &retainedWaiter{lock: t.mutex, turn: make(chan baton, 1)}
		queues.mu.Lock()
		q.unheld = false // firstLocked took the acquire out
		queues.mu.Unlock()
		q.putBack(w)
		synctest.Wait()
		if len(got) == 0 {
			t.Error("the try waits behind the acquire, want its end")
		}
		q.pass(nil) // to the acquire
		q.pass(nil) // to none
		if a := <-got; !errors.Is(a.err, ErrNotAcquired) {
			t.Errorf("got %v, %v, want %v", a.lease, a.err, ErrNotAcquired)
		}
	})
}

// An acquire was put back ahead of a try that waits for the decision about an idle node, and contends at the servers.
// Its context ends, and the try gets its place there: the try must not find that ahead of its own node.
func TestTryThatGetsThePlaceOfAnAcquireHasTheLock(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		queues, key := retainedQueuesOf(t.client), t.mutex.key
		queues.mu.Lock()
		q := queues.findLocked(key)
		q.busy, q.unheld = true, true
		queues.mu.Unlock()
		s, err := t.client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		place, err := t.mutex.recipe.queue.Enqueue(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan acquired, 1)
		go func() {
			lease, err := t.mutex.TryAcquire(t.Context())
			got <- acquired{lease, err}
		}()
		synctest.Wait() // the try is in the local queue
		q.pass(place)
		t.release(t.get(got))
		time.Sleep(time.Minute)
		if left := t.server.Children(t.mutex.recipe.path); len(left) != 0 {
			t.Errorf("got nodes %v, want none", left)
		}
	})
}

// An acquire waits for the decision about an idle node. A try behind it would wait for the acquire's hold.
func TestTryDoesNotEnterTheLocalQueueBehindAnother(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		queues := retainedQueuesOf(t.client)
		queues.mu.Lock()
		q := queues.findLocked(t.mutex.key)
		q.busy, q.unheld = true, true
		queues.mu.Unlock()
		waiter, _ := t.newWaiter()
		try := &retainedWaiter{lock: t.mutex, try: true, turn: make(chan baton, 1)}
		if ahead, ok := queues.enqueue(try); ahead != 2 || !ok || try.queue != nil {
			t.Errorf("got %d ahead, decided %t, the try in the queue %t; want 2, true, false", ahead, ok, try.queue != nil)
		}
		q.pass(nil) // to the acquire
		<-waiter.turn
		q.pass(nil) // to none
	})
}
