package run

import (
	"context"
	"fmt"
	"path"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// lock returns what the job wants.
func (j *job) lock(client *framework.Client, trace locks.Trace) locks.Lock {
	var all []locks.Lock
	for _, path := range j.paths {
		opts := []locks.Option{locks.WithLockData([]byte(j.data)), locks.WithTrace(trace)}
		switch {
		case j.read:
			all = append(all, locks.NewInterProcessReadWriteLock(client, path, opts...).ReadLock())
		case j.write:
			all = append(all, locks.NewInterProcessReadWriteLock(client, path, opts...).WriteLock())
		case j.semaphore > 0:
			all = append(all, locks.NewInterProcessSemaphoreV2(client, path, j.semaphore, opts...))
		default: // a LeaderSelector is a mutex whose node has an id as its data
			all = append(all, locks.NewInterProcessMutex(client, path, opts...))
		}
	}
	lock := all[0]
	if len(all) > 1 {
		lock = locks.NewInterProcessMultiLock(all...)
	}
	if j.wait >= 0 {
		lock = locks.Within(lock, j.wait)
	}
	return lock
}

// acquire waits for the lock, and reports who is ahead.
func (j *job) acquire(ctx context.Context, client *framework.Client, t *teller) (*locks.Lease, error) {
	news := make(chan locks.Waiting, 1)
	lock := j.lock(client, locks.Trace{Waiting: func(_ context.Context, w locks.Waiting) {
		select { // only the newest counts
		case <-news:
		default:
		}
		news <- w
	}})
	telling, stop := context.WithCancel(ctx)
	var tellers sync.WaitGroup
	tellers.Go(func() { tellAhead(telling, client, news, t) })
	defer tellers.Wait()
	defer stop()
	if j.try {
		return lock.TryAcquire(ctx)
	}
	return lock.Acquire(ctx)
}

// An expiring lease ends at a time that renewals move on.
type expiring interface {
	ValidUntil() time.Time
	Err() error
}

// A lasting is what matters of a lease here.
type lasting interface {
	ValidUntil() time.Time
	Done() <-chan struct{}
}

// settle waits until the lease is valid for as long as room, or ends, or ctx ends, but not beyond limit. A lock that is
// acquired just after an outage has a lease from before that, which may be about to end: a command would be refused, or
// get TERM as soon as it runs. The library renews the lease within a quarter of the session timeout after the outage.
func settle(ctx context.Context, lease lasting, room, limit time.Duration) {
	late := time.NewTimer(limit)
	defer late.Stop()
	look := time.NewTicker(room / 64)
	defer look.Stop()
	for time.Until(lease.ValidUntil()) < room {
		select {
		case <-look.C:
		case <-lease.Done():
			return
		case <-ctx.Done():
			return
		case <-late.C:
			return
		}
	}
}

// noticeAfter is how long a wait lasts before people hear of it without -v.
const noticeAfter = time.Second

// tellAhead reports who is ahead whenever that has changed, and every half minute. Without -v it says once that it
// waits.
func tellAhead(ctx context.Context, client *framework.Client, news <-chan locks.Waiting, t *teller) {
	again := time.NewTicker(30 * time.Second)
	defer again.Stop()
	late := time.NewTimer(noticeAfter)
	defer late.Stop()
	var w, last locks.Waiting
	notice, overdue := true, false
	for {
		still := ""
		select {
		case w = <-news:
		case <-late.C:
			overdue = true
		case <-again.C:
			still = "still "
		case <-ctx.Done():
			return
		}
		if w.Path == "" {
			continue
		}
		who := w.Predecessor
		if data, _, err := client.Get(ctx, path.Join(w.Path, w.Predecessor)); err == nil && len(data) > 0 {
			who = Printable(string(data))
		}
		e := Event{
			Event: "waiting", Path: w.Path, Node: w.Node, Ahead: w.Ahead, Behind: who,
			text: fmt.Sprintf("%swaiting for %s: %d ahead, the nearest is %s", still, w.Path, w.Ahead, who),
		}
		if last != w || still != "" {
			last = w
			t.tell(e)
		}
		if overdue && notice {
			notice = false
			t.notice(e.text)
		}
	}
}
