package locks

import (
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// The contenders of one client for a retained lock stand in a local queue. At most one of them, or one residence, is
// the front, which alone has a node at the servers. It passes that on, once, when it has neither a node nor a hold any
// more. If two goroutines could, all.mu decides: the one that takes an idle residence out of kept, or clears
// residence.front.

// A retainedKey is what locks must have in common to share a local queue: then a contender's node may be given to
// another.
type retainedKey struct {
	id        identity
	retention retention
	settings  string // of the node, and of the contender that made it
}

// retainedQueues are the local queues of a client, and hang on it. Under mu, only notices are given, which closes a
// channel once; no other lock is taken and no user code called.
type retainedQueues struct {
	mu    sync.Mutex
	byKey map[retainedKey]*retainedQueue

	meanwhile func(step) // of tests: what happens between two steps of a residence; nil otherwise
}

// A step is one after which other goroutines may come in between.
type step int

const (
	judged   step = iota // the situation is known, and the fate of the node about to be decided
	chosen               // the next holder is, and is about to get its hold
	admitted             // it has its hold, which is about to be entered into the residence
)

func (qs *retainedQueues) after(s step) {
	if qs.meanwhile != nil {
		qs.meanwhile(s)
	}
}

// A retainedQueue is guarded by all.mu.
type retainedQueue struct {
	key     retainedKey
	all     *retainedQueues
	busy    bool              // there is a front
	kept    *residence        // the front, if idle: the goroutine that sets this to nil decides what becomes of it
	waiting []*retainedWaiter // behind the front, in the order in which they came
	hears   []*notice         // of leases that want to hear of the next contender that waits
	history history
	used    time.Time // when it had a front last
}

// forgetTime is how long an unused local queue is remembered, for its history.
const forgetTime = banTime

type retainedQueuesKey struct{}

func retainedQueuesOf(client *framework.Client) *retainedQueues {
	qs, _ := client.Attach(retainedQueuesKey{}, func() any {
		return &retainedQueues{byKey: map[retainedKey]*retainedQueue{}}
	}).(*retainedQueues)
	return qs
}

// find returns a local queue, made if necessary. mu is held.
func (qs *retainedQueues) find(key retainedKey) *retainedQueue {
	q := qs.byKey[key]
	if q == nil {
		q = &retainedQueue{key: key, all: qs, used: time.Now()}
		qs.byKey[key] = q
		time.AfterFunc(forgetTime, q.forget)
	}
	return q
}

// forget drops a queue that was not used for a while, or looks again later.
func (q *retainedQueue) forget() {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	unused := time.Since(q.used)
	if q.busy || unused < forgetTime {
		time.AfterFunc(max(forgetTime-unused, time.Second), q.forget)
		return
	}
	delete(q.all.byKey, q.key)
}

// takeKept takes the idle residence out of a local queue, nil if there is none. The caller decides what becomes of it.
func (qs *retainedQueues) takeKept(key retainedKey) *residence {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.byKey[key]
	if q == nil || q.kept == nil || q.kept.heldBack {
		return nil
	}
	r := q.kept
	q.kept = nil
	return r
}

// enqueue puts a waiter at the end of its queue, and returns how many are ahead. With none ahead, it is the front, with
// nothing but the right to contend. A waiter that does not wait is enqueued only then. ok is false while an idle
// residence is there to be taken.
func (qs *retainedQueues) enqueue(w *retainedWaiter, waits bool) (ahead int, ok bool) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.find(w.lock.key)
	switch {
	case q.kept != nil && !q.kept.heldBack:
		return 0, false
	case !q.busy:
		q.busy = true
		w.queue, w.front = q, true
		return 0, true
	}
	ahead = 1 + len(q.waiting)
	if waits {
		w.queue, q.waiting = q, append(q.waiting, w)
		for _, n := range q.hears {
			n.give()
		}
		q.hears = nil
	}
	return ahead, true
}

// first takes the first waiter out, nil if there is none: to be given a baton, or put back. mu is held.
func (q *retainedQueue) first() *retainedWaiter {
	if len(q.waiting) == 0 {
		return nil
	}
	w := q.waiting[0]
	q.waiting[0] = nil // drop the reference for the garbage collector
	q.waiting = q.waiting[1:]
	return w
}

// putBack puts a waiter back: at the head of the queue; or as the front, if that was passed on meanwhile and there was
// no other.
func (q *retainedQueue) putBack(w *retainedWaiter) {
	q.all.mu.Lock()
	front := !q.busy
	if front {
		q.busy = true
	} else {
		q.waiting = slices.Insert(q.waiting, 0, w)
	}
	q.all.mu.Unlock()
	if front {
		w.turn <- baton{}
	}
}

// pass makes the next waiter the front, with the place of c at the servers, if any. Without a waiter c leaves. Only the
// front may call it, once; it does not block.
func (q *retainedQueue) pass(c *queue.Contender) {
	q.all.mu.Lock()
	w := q.first()
	if q.busy = w != nil; !q.busy {
		q.used = time.Now()
	}
	q.all.mu.Unlock()
	switch {
	case w != nil:
		w.turn <- baton{contender: c}
	case c != nil:
		c.Leave()
	}
}

// remove takes a waiter out of the queue, and returns how many were ahead. A missing waiter is about to get the baton.
func (q *retainedQueue) remove(w *retainedWaiter) (ahead int, there bool) {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	i := slices.Index(q.waiting, w)
	if i < 0 {
		return 0, false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return 1 + i, true
}

// idleNodes returns the names of a lock's idle nodes.
func (qs *retainedQueues) idleNodes(id identity) map[string]bool {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	names := map[string]bool{}
	for key, q := range qs.byKey {
		if key.id == id && q.kept != nil {
			names[q.kept.base.Name] = true
		}
	}
	return names
}

// waitingFor returns how many contenders wait for a lock in local queues.
func (qs *retainedQueues) waitingFor(id identity) int {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	n := 0
	for key, q := range qs.byKey {
		if key.id == id {
			n += len(q.waiting)
		}
	}
	return n
}

// listen gives n when a contender waits in the queue.
func (q *retainedQueue) listen(n *notice) {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	if len(q.waiting) > 0 {
		n.give()
		return
	}
	q.hears = append(q.hears, n)
}

func (q *retainedQueue) unlisten(n *notice) {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	q.hears = slices.DeleteFunc(q.hears, func(other *notice) bool { return other == n })
}
