package locks

import (
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/lockopt"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// The contenders of one client for a retained lock stand in a local queue. At most one of them, or one residence, is
// the front, and only that has a node at the servers. Without node and hold it passes that on, once. all.mu decides
// between two goroutines, by taking an idle residence out of kept, or clearing residence.front.

// Locks with equal retainedKeys share a local queue: one's node may be given to another's contender.
type retainedKey struct {
	id        identity
	retention retention
	node      lockopt.NodeSettings
}

// retainedQueues are a client's local queues. Under mu no other lock is taken and no user code called.
type retainedQueues struct {
	mu    ranked.Mutex[ranked.Leaf, retainedQueues]
	byKey map[retainedKey]*retainedQueue

	observer steps.Observer // nil but in tests
}

// A retainedQueue is guarded by all.mu.
type retainedQueue struct {
	key     retainedKey
	all     *retainedQueues
	busy    bool              // there is a front
	kept    *residence        // the front, if idle: to take it out is to decide about it
	unheld  bool              // the front is a residence, and no contender has taken its node since it was idle
	waiting []*retainedWaiter // behind the front, in order of arrival
	hears   []*func()         // to call when a contender waits
	history history
	used    time.Time // when it had a front last
}

// forgetTime is how long an unused local queue, and its history, is remembered.
const forgetTime = banTime

func retainedQueuesOf(client *framework.Client) *retainedQueues {
	return session.Attach(client.Attachments(), func() *retainedQueues {
		return &retainedQueues{byKey: map[retainedKey]*retainedQueue{}, observer: steps.Of(client)}
	})
}

// findLocked finds or makes a local queue.
func (qs *retainedQueues) findLocked(key retainedKey) *retainedQueue {
	q := qs.byKey[key]
	if q == nil {
		q = &retainedQueue{key: key, all: qs, used: time.Now()}
		qs.byKey[key] = q
		time.AfterFunc(forgetTime, q.forget)
	}
	return q
}

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

// takeKept takes out the idle residence, if any; the caller decides about it.
func (qs *retainedQueues) takeKept(key retainedKey) *residence {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.byKey[key]
	if q == nil {
		return nil
	}
	return q.takeIdleLocked()
}

// takeIdleLocked takes out the idle residence, unless it is held back: that decides when it knows more.
func (q *retainedQueue) takeIdleLocked() *residence {
	r := q.kept
	if r == nil || r.heldBack {
		return nil
	}
	q.kept, q.unheld = nil, false
	q.stepLocked(steps.Woken)
	return r
}

// enqueue puts a waiter at the end of its queue, and returns how many are ahead. With none ahead it is the front. A try
// is enqueued only then, or, if no contender holds the lock or waits, to wait for the front's residence to decide. ok
// is false while an idle residence can be taken.
func (qs *retainedQueues) enqueue(w *retainedWaiter) (ahead int, ok bool) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.findLocked(w.lock.key)
	switch {
	case q.kept != nil && !q.kept.heldBack:
		return 0, false
	case !q.busy:
		q.busy = true
		w.queue, w.front = q, true
		return 0, true
	}
	ahead = 1 + len(q.waiting)
	if !w.try || q.unheld && ahead == 1 {
		w.queue = q
		q.insertLocked(len(q.waiting), w)
	}
	return ahead, true
}

// insertLocked makes the waiter one of those who wait, which holders hear of.
func (q *retainedQueue) insertLocked(ahead int, w *retainedWaiter) {
	q.waiting = slices.Insert(q.waiting, ahead, w)
	q.stepLocked(steps.Waits)
	for _, heard := range q.hears {
		(*heard)()
	}
	q.hears = nil
}

// firstLocked takes out the first waiter, if any: to get a baton, or be put back.
func (q *retainedQueue) firstLocked() *retainedWaiter {
	q.unheld = false
	if len(q.waiting) == 0 {
		return nil
	}
	w := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.stepLocked(steps.Leaves)
	return w
}

// putBack puts a waiter back at the head, or makes it the front if there is none. It does not block.
//
// It has to look, because the node may have been lost, the queue passed on, and another acquire's residence may be
// idle.
//
// A try, and a waiter whose context has ended, are not put back, because the new front may hold the lock for any time.
// So a try that waits for the idle residence's decision leaves when an acquire is put back ahead of it.
func (q *retainedQueue) putBack(w *retainedWaiter) {
	q.all.mu.Lock()
	front, leaves, tries, idle := q.putBackLocked(w)
	q.all.mu.Unlock()
	for _, try := range tries {
		try.turn <- baton{lost: true}
	}
	switch {
	case front:
		w.turn <- baton{}
	case leaves:
		w.turn <- baton{lost: true}
	case idle != nil:
		idle.decide(true)
	}
}

// putBackLocked reports whether the waiter is the front or leaves, and which tries leave. The caller lets idle, the
// formerly idle residence, decide.
func (q *retainedQueue) putBackLocked(w *retainedWaiter) (
	front, leaves bool, tries []*retainedWaiter, idle *residence,
) {
	front, leaves = !q.busy, w.try || w.leaves
	switch {
	case front:
		q.busy = true
	case !leaves:
		idle = q.takeIdleLocked()
		tries = q.takeTriesLocked()
		q.insertLocked(0, w)
	}
	return front, leaves, tries, idle
}

// takeTriesLocked takes out the tries that wait. Each gets a baton.
func (q *retainedQueue) takeTriesLocked() (tries []*retainedWaiter) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w *retainedWaiter) bool {
		if w.try {
			q.stepLocked(steps.Leaves)
			tries = append(tries, w)
		}
		return w.try
	})
	return tries
}

// pass makes the next waiter the front, with c's place at the servers, if any. Without a waiter c leaves. Only the
// front may call it, once. It does not block.
func (q *retainedQueue) pass(c *queue.Contender) {
	q.all.mu.Lock()
	w := q.firstLocked()
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

// remove takes out a waiter; a missing one is about to get the baton, and is not put back.
func (q *retainedQueue) remove(w *retainedWaiter) (ahead int, there bool) {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	i := slices.Index(q.waiting, w)
	if i < 0 {
		w.leaves = true
		return 0, false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	q.stepLocked(steps.Leaves)
	return 1 + i, true
}

// listen calls heard, under mu, when a contender waits; now if one does.
func (q *retainedQueue) listen(heard func()) (stop func()) {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	if len(q.waiting) > 0 {
		heard()
		return func() {}
	}
	q.hears = append(q.hears, &heard)
	return func() {
		q.all.mu.Lock()
		defer q.all.mu.Unlock()
		q.hears = slices.DeleteFunc(q.hears, func(other *func()) bool { return other == &heard })
	}
}
