package locks

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// A residence is the time that a client keeps one node, from its admission until it is removed or lost. As a member of
// the node's grant it keeps that over all holds. While front is set it is the front of its local queue.
//
// One goroutine at a time may decide about it: the one whose hold has just ended, or the one that took it out of
// queue.kept. The fields that no mutex guards belong to that goroutine.
type residence struct {
	queue     *retainedQueue
	base      *queue.Grant
	last      *recipe // the newest hold's
	watching  bool    // the directory, undelayed
	holdEnded time.Time

	handed int // hand-overs, and holds of the idle node
	after  int // how many of these came after demand

	listener  atomic.Pointer[session.Watch] // on the directory
	unwatched atomic.Bool                   // the directory is never watched again
	demanded  atomic.Bool                   // another contender was heard of
	spent     atomic.Bool                   // the node must not have another hold

	// Guarded by queue.all.mu.
	front    bool // to clear it is to pass the queue on
	gone     bool // lost
	hold     *hold
	heldBack bool        // while idle: no contender is admitted yet
	timer    *time.Timer // to look at an idle node again
	ticks    bool        // the timer runs, until tickAt
	tickAt   time.Time
}

func newResidence(q *retainedQueue, r *recipe) *residence { return &residence{queue: q, last: r} }

// A baseLock is the lock of bases: a lock's own grants are the holds.
type baseLock identity

// baseQueue is the queue in which the residence's contender gets the base: a loss goes to the residence alone.
func (r *residence) baseQueue() *queue.Queue {
	events := r.last.queue.Config.Events
	events.Ended = func(_ *queue.Grant, cause error) error { return cause } // a hold makes its error of that
	events.Asked = nil
	events.Lost = func(*queue.Grant, time.Time, error) { r.lost() }
	return r.last.queue.For(baseLock(r.last.id), events)
}

// begin makes the residence the front, with the first hold over base; nil if base is lost already.
func (r *residence) begin(base *queue.Grant) *queue.Grant {
	r.base = base
	if base.Join(r) != nil {
		return nil
	}
	h := r.newHold(r.last, 0)
	if h == nil {
		return nil
	}
	node, _ := base.Queue.Markers.Parse(base.Name)
	mu := &r.queue.all.mu
	mu.Lock()
	gone := r.gone
	if !gone {
		r.front, r.hold = true, h
		r.queue.history.granted(node)
	}
	mu.Unlock()
	if gone { // lost has found no front to pass on, and no hold
		h.grant.Detach()
		return nil
	}
	r.listen(base.Session.WatchChildrenDeferred)
	return &h.grant
}

// Ended is for queue.Member. After a loss lost is called, once all leases have ended.
func (r *residence) Ended() {}

// AskedToLeave decides about an idle node; otherwise the present hold, or the next, has the request.
func (r *residence) AskedToLeave() {
	r.spent.Store(true)
	r.queue.all.mu.Lock()
	idle := r.queue.kept == r
	r.queue.all.mu.Unlock()
	if idle {
		r.look()
	}
}

// isUsable reports whether the node may have another hold. The base may have ended, or be about to.
func (r *residence) isUsable() bool { return !r.spent.Load() && !r.base.Removed() }

// listen replaces the watch on the directory.
func (r *residence) listen(watch func(dir string, wake func()) session.Watch) {
	w := watch(r.base.Queue.Config.Dir, r.look)
	r.replace(&w)
	if r.unwatched.Load() { // set before the line above, which has left a watch behind
		r.replace(nil)
	}
}

func (r *residence) replace(w *session.Watch) {
	if before := r.listener.Swap(w); before != nil {
		(*before).Stop()
	}
}

// stopListening takes the watch off for good.
func (r *residence) stopListening() {
	r.unwatched.Store(true)
	r.replace(nil)
}

// news is what was heard of contenders outside the local queue. Once heard of, they count for good.
func (r *residence) news() news {
	s := r.base.Session
	n := news{timeout: s.Timeout(), silence: s.SinceLeaderContact()}
	switch w := r.listener.Load(); {
	case r.demanded.Load():
		n.demand = demanded
	case w != nil:
		view := (*w).View()
		if n.demand = r.demand(view); n.demand == alone {
			n.listed = time.Since(view.Read)
			if n.asking = !view.Pending.IsZero(); n.asking {
				n.asked = time.Since(view.Pending)
			}
		}
	}
	return n
}

// demand is what a listing says, which may be old.
func (r *residence) demand(view framework.View) demand {
	switch {
	case view.Status == framework.StatusFailed, view.Status == framework.StatusGone:
		return unheard
	case view.Status != framework.StatusPresent:
		return unknown
	case r.others(view.Children):
		r.demanded.Store(true)
		return demanded
	case !view.Current:
		return unknown
	case !slices.Contains(view.Children, r.base.Name):
		return unheard
	default:
		return alone
	}
}

func (r *residence) others(children []string) bool {
	return slices.ContainsFunc(children, func(name string) bool {
		if name == r.base.Name {
			return false
		}
		_, counts := r.base.Queue.Markers.Parse(name)
		return counts
	})
}

// look is called at possible news of the directory or the node. It does not block.
func (r *residence) look() {
	if r.takeForNews() {
		r.decide(true)
	}
}

// takeForNews takes the idle residence out of the queue if there is news for it. The caller decides then.
//
// If it becomes idle at the same time, either this sees kept set, or decide, which calls this once kept is set, finds
// the earlier news.
func (r *residence) takeForNews() bool {
	n := r.news()
	if n.demand == demanded {
		r.stopListening()
	}
	switch {
	case n.demand == demanded, n.demand == unheard, !r.isUsable(): // lost handles a base that has ended
		return r.take(false)
	case n.isAlone():
		return r.take(true)
	default:
		return false
	}
}

// take takes the residence out of the queue if it is idle, and held back if asked.
func (r *residence) take(ifHeldBack bool) bool {
	r.queue.all.mu.Lock()
	defer r.queue.all.mu.Unlock()
	if r.queue.kept != r || ifHeldBack && !r.heldBack {
		return false
	}
	r.queue.kept = nil
	r.queue.stepLocked(steps.Woken)
	return true
}

func (r *residence) tick() {
	r.queue.all.mu.Lock()
	r.ticks = false
	r.queue.all.mu.Unlock()
	if r.take(false) {
		r.decide(true)
	}
}

// lost is called after a loss of the grant and its leases, when the removal is on its way. A goroutine that is deciding
// finds front cleared, and does nothing.
func (r *residence) lost() {
	r.stopListening()
	mu := &r.queue.all.mu
	mu.Lock()
	front, h := r.loseLocked()
	r.stopTimerLocked()
	mu.Unlock()
	if h != nil {
		h.grant.Detach()
	}
	if front {
		r.queue.pass(nil)
	}
}

// loseLocked notes the loss. front reports that the caller has to pass the queue on; h is the hold to be ended.
func (r *residence) loseLocked() (front bool, h *hold) {
	front, h = r.front, r.hold
	r.gone, r.front, r.hold = true, false, nil
	if r.queue.kept == r {
		r.queue.kept = nil
		r.queue.stepLocked(steps.Woken)
	}
	return front, h
}

// stopTimerLocked is called when front is cleared: nothing starts it again.
func (r *residence) stopTimerLocked() {
	if r.timer != nil {
		r.timer.Stop()
	}
}
