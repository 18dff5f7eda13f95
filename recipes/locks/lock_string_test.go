package locks_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestEveryLockPrintsItsKindAndPath(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := locks.NewInterProcessMutex(p.Client, "/m")
		rw := locks.NewInterProcessReadWriteLock(p.Client, "/rw")
		for want, lock := range map[string]any{
			`mutex "/m"`:                                 mutex,
			`read/write lock "/rw"`:                      rw,
			`read lock "/rw"`:                            rw.ReadLock(),
			`write lock "/rw"`:                           rw.WriteLock(),
			`semaphore "/s"`:                             locks.NewInterProcessSemaphoreV2(p.Client, "/s", 2),
			`semaphore mutex "/sm"`:                      locks.NewInterProcessSemaphoreMutex(p.Client, "/sm"),
			`multi-lock of [mutex "/m" read lock "/rw"]`: locks.NewInterProcessMultiLock(mutex, rw.ReadLock()),
			`mutex "/m" within 1s`:                       locks.Within(mutex, time.Second),
		} {
			if got := fmt.Sprint(lock); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

func TestLocksPrintWhatTheirClientHoldsAndWhatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		mutex := func(p *peer) *locks.InterProcessMutex { return locks.NewInterProcessMutex(p.Client, "/m") }
		rw := locks.NewInterProcessReadWriteLock(p.Client, "/rw")
		semaphore := locks.NewInterProcessSemaphoreV2(p.Client, "/s", 2)
		retained := locks.NewInterProcessMutex(p.Client, "/r").Retained(locks.RetainIdle(time.Second))
		below := locks.NewInterProcessMutex(p.Client, "/m/below")

		held := []*locks.Lease{
			acquire(t, mutex(p)), acquire(t, rw.ReadLock()), acquire(t, rw.ReadLock()), acquire(t, semaphore),
			acquire(t, semaphore), acquire(t, retained), acquire(t, below),
		}
		held = append(held, acquireIn(held[0].Context(t.Context()), t, mutex(p)))
		ctx, cancel := context.WithCancel(t.Context())
		var waiting []<-chan result
		for _, lock := range []locks.Lock{mutex(p), mutex(p), mutex(other), rw.WriteLock(), rw.ReadLock(), semaphore, retained, below, below} {
			waiting = append(waiting, begin(ctx, t, lock))
		}
		for _, c := range []struct {
			lock any
			want string
		}{
			{mutex(p), `mutex "/m" (held here: 1, waiting here: 2)`},
			{mutex(other), `mutex "/m" (held here: 0, waiting here: 1)`},
			{rw.ReadLock(), `read lock "/rw" (held here: 2, waiting here: 1)`},
			{rw.WriteLock(), `write lock "/rw" (held here: 0, waiting here: 1)`},
			{rw, `read/write lock "/rw" (held here: 2, waiting here: 2)`},
			{semaphore, `semaphore "/s" (held here: 2, waiting here: 1)`},
			{retained, `retained mutex "/r" (held here: 1, waiting here: 1)`},
			{locks.Within(below, time.Second), `mutex "/m/below" (held here: 1, waiting here: 2) within 1s`},
		} {
			if got := fmt.Sprint(c.lock); got != c.want {
				t.Errorf("while contenders hold and wait: got %s, want %s", got, c.want)
			}
		}

		cancel()
		for _, w := range waiting {
			_ = soon(t, w)
		}
		for _, lease := range held {
			release(t, lease)
		}
		for range 4 {
			release(t, acquire(t, retained))
		}
		if all, err := retained.Participants(t.Context()); err != nil || len(all) != 1 || !all[0].Retained {
			t.Errorf("after four holds: got participants %+v, %v, want an idle node", all, err)
		}
		if got, want := fmt.Sprint(retained), `retained mutex "/r"`; got != want {
			t.Errorf("while the node is idle: got %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(mutex(p)), `mutex "/m"`; got != want {
			t.Errorf("after the releases: got %s, want %s", got, want)
		}
	})
}
