package locks

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// The next front creates its node behind the one that leaves. If its request went first, it would wait for the removal,
// and list the directory after that.
func TestLocalQueueIsPassedOnAfterTheRemovalOfTheNode(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		lease := t.acquire()
		next := &retainedWaiter{lock: t.mutex, turn: make(chan baton)} // has no room: passing on waits for it
		if ahead, ok := retainedQueuesOf(t.client).enqueue(next); ahead != 1 || !ok {
			t.Fatalf("got %d ahead, %t, want 1, true", ahead, ok)
		}
		r := t.released(lease)
		r.spent.Store(true)
		over := make(chan bool)
		go func() { over <- handOver(lease) }()
		synctest.Wait()
		if t.server.Exists(lease.grant.Node) {
			t.Error("got the node while the queue is passed on, want it removed")
		}
		next.leave()
		if <-over {
			t.Error("got a spent node handed over, want it removed")
		}
	})
}

// An idle node that makes another client wait is not worth its keeping, also if the other client comes in the moment in
// which the node becomes idle. One that is wanted while it is held is not kept at all.
func TestOnlyAnIdleNodeThatWasWantedBansKeepingForAWhile(t *testing.T) {
	for name, c := range map[string]struct {
		wanted func(t *handoverTest, release, create func())
		kept   int // nodes afterwards
	}{
		"while it is held":      {func(_ *handoverTest, release, create func()) { create(); release() }, 1},
		"while it becomes idle": {func(t *handoverTest, release, create func()) { t.meanwhile(steps.Judged, create); release() }, 0},
		"while it is idle":      {func(_ *handoverTest, release, create func()) { release(); create() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inHandoverTest(t, func(t *handoverTest) {
				t.mutex = NewInterProcessMutex(t.client, handoverPath).Retained(RetainIdle(time.Minute))
				pause := func() { time.Sleep(10 * time.Millisecond) }
				for range 3 {
					t.release(t.acquire())
				}
				pause()
				lease := t.acquire()
				const other = handoverPath + "/other-lock-0000000099"
				create := func() {
					pause()
					if err := t.server.Create(other, nil); err != nil {
						t.Error(err)
					}
					pause()
				}
				c.wanted(t, func() { t.release(lease) }, create)
				if got := t.server.Children(handoverPath); len(got) != 1 {
					t.Errorf("got nodes %q, want that of the other client alone", got)
				}
				if err := t.server.Delete(other); err != nil {
					t.Fatal(err)
				}
				for range minOwnGrants + 1 {
					t.release(t.acquire())
					pause()
				}
				if got := t.server.Children(handoverPath); len(got) != c.kept {
					t.Errorf("got nodes %q after %d grants in a row, want %d", got, minOwnGrants+1, c.kept)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
}

// The node was lost after the residence had chosen the next acquire, which had no hold.
func TestAnAcquireThatFindsTheNodeLostCountsAsNoHold(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		lease := t.acquire()
		r := t.released(lease)
		last, next := r.last, &NewInterProcessMutex(t.client, handoverPath).Retained().recipe
		r.base.End(queue.ErrRemoved)
		if h, lost := r.admit(next); h != nil || !lost {
			t.Errorf("got hold %v, lost %t, want none of a lost node", h, lost)
		}
		if r.handed != 0 || r.last != last {
			t.Errorf("got %d holds handed over, the newest to its acquire: %t; want none", r.handed, r.last == next)
		}
		r.base.Detach()
	})
}
