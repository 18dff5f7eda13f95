package locks

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/steps"
)

// decide decides what becomes of the node without a hold, does it, and returns its removal, if any. Only the goroutine
// that may decide calls it, once: then the next holder may, or that which takes the idle residence. It does not block.
func (r *residence) decide(idle bool) (fate, framework.Removal) {
	for stayed := idle; ; {
		s := r.situation()
		r.base.Step(steps.Judged)
		r.queue.all.mu.Lock()
		if !r.front { // lost, and passed on
			r.queue.all.mu.Unlock()
			return removed, r.base.RemoveNode()
		}
		r.know(&s)
		f := r.queue.key.retention.fate(s)
		switch f {
		case handedOver:
			w := r.queue.first()
			r.queue.all.mu.Unlock()
			if h, _ := r.admit(w.lock.recipe); h != nil {
				w.turn <- baton{grant: h}
				return f, nil
			}
			r.queue.putBack(w)
		case kept, heldBack:
			r.stay(s, f)
			r.queue.all.mu.Unlock()
			if !r.takeForNews() {
				return f, nil
			}
			stayed = true
		case removed:
			r.front, r.hold = false, nil
			r.stopTimer()
			if stayed && s.demand == demanded {
				r.queue.history.demoted(r.handed, time.Now())
			}
			r.queue.all.mu.Unlock()
			return f, r.remove(idle, s)
		}
	}
}

// situation is what is known without mu. The first time that the node may stay, it starts the undelayed watch. It has
// the directory listed again when the listing is old.
func (r *residence) situation() situation {
	now := time.Now()
	s := situation{
		now: now, usable: !r.spent && r.base.Err() == nil && r.base.MayBeKept(),
		handed: r.handed, after: r.after, age: now.Sub(r.base.Admitted),
	}
	if s.usable && !r.watching && r.wanted() {
		r.watching = true
		r.listen(r.base.Session.WatchChildren)
	}
	if s.news = r.news(); s.isOld() {
		r.listAgain()
		s.news = r.news()
	}
	return s
}

// know completes a situation. mu is held.
func (r *residence) know(s *situation) {
	s.waiting, s.proven, s.idle = len(r.queue.waiting) > 0, r.queue.history.proven(s.now), s.now.Sub(r.holdEnded)
	s.tried = s.waiting && r.queue.waiting[0].try
}

// wanted reports whether the node would stay without other clients.
func (r *residence) wanted() bool {
	r.queue.all.mu.Lock()
	defer r.queue.all.mu.Unlock()
	s := situation{now: time.Now(), usable: true, news: news{demand: alone, timeout: time.Second}}
	r.know(&s)
	return r.queue.key.retention.fate(s) != removed
}

// stay makes the residence idle, with a timer for what only the clock changes. mu is held.
func (r *residence) stay(s situation, f fate) {
	r.queue.kept, r.queue.unheld, r.hold, r.heldBack = r, true, nil, f == heldBack
	r.queue.step(steps.Idle)
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
func (r *residence) admit(next *recipe) (h *queue.Grant, lost bool) {
	r.base.Step(steps.Chosen)
	h, err := r.base.Hold(next.queue, int64(r.handed+1), r)
	if err != nil {
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
		h.EndHold()
	}
	return h, lost
}

// admitTo makes a hold for an acquire that has taken out the idle residence, or decides about it and returns nil.
func (r *residence) admitTo(next *recipe, try bool) *queue.Grant {
	s := r.situation()
	r.queue.all.mu.Lock()
	r.know(&s)
	r.queue.all.mu.Unlock()
	s.waiting, s.tried = true, try
	if r.queue.key.retention.fate(s) == handedOver {
		if h, lost := r.admit(next); !lost && !h.IsOver() {
			return h
		}
		// The loss passes the queue on, or has done so.
		return nil
	}
	r.decide(true)
	return nil
}

// remove ends the residence. The queue is passed on when the removal is on its way: the node then does not block the
// next front.
func (r *residence) remove(idle bool, s situation) framework.Removal {
	r.stopListening()
	_, _ = r.base.Leave(r) // a loss meanwhile does nothing more
	removal := r.base.RemoveNode()
	if idle {
		r.last.trace.dropped(Dropped{
			Path: r.last.path, Node: r.base.Name, Kept: r.base.KeptFor(), Idle: time.Since(r.holdEnded), Holds: 1 + r.handed,
			Demanded: s.demand == demanded,
		})
	}
	r.queue.pass(nil)
	return removal
}

func (r *residence) release(l *Lease, enough <-chan struct{}) error {
	released, removal := r.released(l)
	if removal != nil {
		if err := r.base.AwaitRemoval(removal, enough); err != nil {
			released.Err = &ReleaseError{Path: l.recipe.path, Node: l.grant.Name, Err: err}
		}
	}
	l.recipe.released(released)
	return released.Err
}

func (r *residence) released(l *Lease) (Released, framework.Removal) {
	h := l.grant
	r.spent = r.spent || !h.MayBeKept()
	r.holdEnded = time.Now()
	held := r.holdEnded.Sub(h.Since)
	h.EndHold()
	f, removal := r.decide(false)
	return Released{
		Path: l.recipe.path, Node: h.Name, Held: held, LocalCount: h.Count, HandedOver: f == handedOver, Retained: f == kept || f == heldBack,
	}, removal
}
