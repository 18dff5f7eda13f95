package locks

import (
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// decide decides what becomes of the node without a hold, does it, and returns its removal, if any. Only the goroutine
// that may decide calls it, once. Then the next holder may decide, or the goroutine that takes the idle residence. It
// does not block.
func (r *residence) decide(idle bool) (fate, session.Removal) {
	for stayed := idle; ; {
		s := r.situation()
		r.base.Step(steps.Judged)
		r.queue.all.mu.Lock()
		if !r.front { // lost, and passed on
			r.queue.all.mu.Unlock()
			return removed, r.base.RemoveNode()
		}
		r.knowLocked(&s)
		f := r.queue.key.retention.fate(s)
		next := r.settleLocked(s, f, stayed)
		switch f {
		case handedOver:
			r.queue.all.mu.Unlock()
			if h, _ := r.admit(&next.lock.recipe); h != nil {
				next.turn <- baton{grant: &h.grant}
				return f, nil
			}
			r.queue.putBack(next)
		case kept, heldBack:
			r.setTimerLocked(s, f)
			r.queue.all.mu.Unlock()
			if !r.takeForNews() {
				return f, nil
			}
			stayed = true
		case removed:
			r.stopTimerLocked()
			r.queue.all.mu.Unlock()
			return f, r.remove(idle, s)
		}
	}
}

// settleLocked notes the fate of the node. It takes out the waiter to which the node is handed over. stayed reports
// whether the node was idle before.
func (r *residence) settleLocked(s situation, f fate, stayed bool) (next *retainedWaiter) {
	switch f {
	case handedOver:
		return r.queue.firstLocked()
	case kept, heldBack:
		r.queue.kept, r.queue.unheld, r.hold, r.heldBack = r, true, nil, f == heldBack
		r.queue.stepLocked(steps.Idle)
	case removed:
		r.front, r.hold = false, nil
		if stayed && s.demand == demanded {
			r.queue.history.demoted(r.handed, s.now)
		}
	}
	return nil
}

// situation is what is known without mu. The first time that the node may stay, it starts the undelayed watch. It has
// the directory listed again when the listing is old.
func (r *residence) situation() situation {
	now := time.Now()
	s := situation{
		now: now, usable: r.base.Err() == nil && r.isUsable(),
		handed: r.handed, after: r.after, age: now.Sub(r.base.Since),
	}
	if s.usable && !r.watching && r.wanted() {
		r.watching = true
		r.listen(r.base.Session.WatchChildren)
	}
	if s.news = r.news(); s.isOld() {
		if w := r.listener.Load(); w != nil {
			(*w).ReadAgain() // and has its watch set; the answer comes to look
		}
		s.news = r.news()
	}
	return s
}

// knowLocked completes a situation.
func (r *residence) knowLocked(s *situation) {
	s.waiting, s.proven, s.idle = len(r.queue.waiting) > 0, r.queue.history.proven(s.now), s.now.Sub(r.holdEnded)
	s.tried = s.waiting && r.queue.waiting[0].try
}

// wanted reports whether the node would stay without other clients.
func (r *residence) wanted() bool {
	r.queue.all.mu.Lock()
	defer r.queue.all.mu.Unlock()
	s := situation{now: time.Now(), usable: true, news: news{demand: alone, timeout: time.Second}}
	r.knowLocked(&s)
	return r.queue.key.retention.fate(s) != removed
}

// setTimerLocked gives the idle residence a timer for what only the clock changes.
func (r *residence) setTimerLocked(s situation, f fate) {
	next := r.queue.key.retention.standsFor(s, f)
	at := s.now.Add(next)
	if r.ticks && !at.Before(r.tickAt) {
		return // one timer serves many short idle times
	}
	r.ticks, r.tickAt = true, at
	if r.timer == nil {
		r.timer = time.AfterFunc(next, r.tick)
	} else {
		r.timer.Reset(next)
	}
}

// admit makes the next hold over the node, nil if the node is lost. If it is lost meanwhile, the hold has ended.
func (r *residence) admit(next *recipe) (h *hold, lost bool) {
	r.base.Step(steps.Chosen)
	if h = r.newHold(next, r.handed+1); h == nil {
		return nil, true
	}
	r.base.Step(steps.Handed)
	r.last = next
	r.handed++
	if r.demanded.Load() {
		r.after++
	}
	r.queue.all.mu.Lock()
	if lost = !r.front; !lost {
		r.hold = h
	}
	r.queue.all.mu.Unlock()
	if lost { // lost has found no hold to end
		h.grant.Detach()
	}
	return h, lost
}

// admitTo makes a hold for an acquire that has taken out the idle residence, or decides about it and returns nil.
func (r *residence) admitTo(next *recipe, try bool) *queue.Grant {
	s := r.situation()
	r.queue.all.mu.Lock()
	r.knowLocked(&s)
	r.queue.all.mu.Unlock()
	s.waiting, s.tried = true, try
	if r.queue.key.retention.fate(s) == handedOver {
		if h, lost := r.admit(next); !lost && !h.grant.IsOver() {
			return &h.grant
		}
		// The loss passes the queue on, or has done so.
		return nil
	}
	r.decide(true)
	return nil
}

// remove ends the residence. It passes the queue on once the removal is on its way, so that the node does not block the
// next front.
func (r *residence) remove(idle bool, s situation) session.Removal {
	r.stopListening()
	_, _ = r.base.Leave(r) // a loss meanwhile does nothing more
	removal := r.base.RemoveNode()
	if idle {
		r.last.trace.retentionEnded(RetentionEnded{
			Path: r.last.path, Node: r.base.Name, Kept: time.Since(r.base.Since), Idle: time.Since(r.holdEnded), Holds: 1 + r.handed,
			Demanded: s.demand == demanded,
		})
	}
	r.queue.pass(nil)
	return removal
}

// freed ends a hold without members, and decides about the node.
func (r *residence) freed(h *hold) (Released, session.Removal) {
	if h.spent.Load() {
		r.spent.Store(true)
	}
	r.holdEnded = time.Now()
	held := r.holdEnded.Sub(h.grant.Since)
	h.grant.Detach()
	f, removal := r.decide(false)
	return Released{
		Path: h.recipe.path, Node: h.grant.Name, Held: held, FencingCount: h.grant.Count, Zxid: h.grant.SeenAtRelease(),
		HandedOver: f == handedOver, Retained: f == kept || f == heldBack,
	}, removal
}
