package locks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/malformtest"
	"github.com/gocurator/curator/recipes/locks"
)

func retainedOf(c *framework.Client) locks.Lock {
	return retaining(mutexOf(c), locks.RetainIdle(30*time.Second))
}

// retainedStory is a client that takes a lock again and again, alone and beside another client.
func retainedStory() *malformtest.Story {
	return &malformtest.Story{
		Recover: func(ctx context.Context, r *malformtest.Run) error {
			lease, err := retainedOf(r.Client).Acquire(ctx)
			if err != nil {
				return err
			}
			giveBack(r, lease)
			if lease = tryFor(r, malformtest.SpoilTime, mutexOf(r.Honest)); lease == nil {
				return errors.New("the client keeps its node from another one")
			}
			giveBack(r, lease)
			return nil
		},
		Left: func(r *malformtest.Run) string {
			if n := locks.RetainedQueues(r.Client); n > 0 {
				return fmt.Sprintf("%d local queues", n)
			}
			return ""
		},
		Parts: malformtest.ForLong(
			malformtest.Part{Name: "becoming idle", Live: idles(0), Kinds: []string{malformtest.FrameListing, malformtest.FrameDelete}},
			malformtest.Part{Name: "idle", Live: idles(time.Second), Kinds: []string{malformtest.FrameEvent, malformtest.FrameUnwatch}},
			malformtest.Part{Name: "contending", Live: handsOver, Kinds: []string{
				malformtest.FrameCreate, malformtest.FrameWatches, malformtest.FrameMulti, malformtest.FrameUnwatch,
			}},
		),
	}
}

// idles has the client keep its node when it needs it no more, until another client wants the lock after a while. A
// lost event costs that client a session timeout.
func idles(while time.Duration) func(r *malformtest.Run) {
	return func(r *malformtest.Run) {
		for range 4 {
			giveBack(r, tryFor(r, malformtest.SpoilTime, retainedOf(r.Client)))
		}
		time.Sleep(while)
		r.Arm()
		lease := tryFor(r, malformtest.SpoilTime, mutexOf(r.Honest))
		if lease == nil {
			r.Bad(malformtest.OutcomeLocked, "another client has not got a lock that is idle within %v", malformtest.SpoilTime)
		}
		giveBack(r, lease)
		giveBack(r, tryFor(r, malformtest.SpoilTime, retainedOf(r.Client)))
	}
}

// handsOver has three goroutines of the client and one of another take the lock in turns.
func handsOver(r *malformtest.Run) {
	var all sync.WaitGroup
	var o malformtest.Occupancy
	work := func(who string, lock locks.Lock) {
		all.Go(func() {
			for range 4 {
				if lease := tryFor(r, malformtest.SpoilTime, lock); lease != nil {
					o.Enter(r, who, lease)
					time.Sleep(300 * time.Millisecond)
					giveBack(r, lease)
				}
			}
		})
	}
	r.Arm()
	for i := range 3 {
		work(fmt.Sprint("goroutine ", i), retainedOf(r.Client))
	}
	work("another client", mutexOf(r.Honest))
	all.Wait()
}
