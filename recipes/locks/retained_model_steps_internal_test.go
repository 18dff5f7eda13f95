package locks

import (
	"errors"
	"fmt"
	"slices"
)

type stepping func(name string, next tenancy)

// steps calls step with all that can happen. The names of faults, and of what programs do, have an exclamation mark.
func (w tenancy) steps(take stepping) {
	step := func(name string, next tenancy) { take(name, next.tidied()) }
	for i := range w.acquires {
		w.acquireSteps(i, func(name string, next tenancy) { step(fmt.Sprintf("acquire %d %s", i, name), next) })
	}
	for i := range w.stays {
		if w.stays[i].there {
			w.staySteps(int8(i), func(name string, next tenancy) { step(fmt.Sprintf("residence %d %s", i, name), next) })
		}
	}
	without := func(at int) tenancy {
		next := w
		copy(next.nodes[at:], w.nodes[at+1:])
		next.nodes[len(w.nodes)-1] = 0
		return next
	}
	for at, node := range w.nodes {
		if node == dying {
			step("a removed node goes", without(at))
		}
	}
	if w.nodes[0] == ofOther {
		step("the other client releases", without(0))
	}
	if w.others > 0 && !slices.Contains(w.nodes[:], ofOther) {
		next := w
		next.others--
		next.appendNode(ofOther)
		for i := range next.stays {
			s := &next.stays[i]
			s.event = s.event || s.listed
		}
		step("another client comes!", next)
	}
}

// tidied forgets what matters no more.
func (w tenancy) tidied() tenancy {
	uses := [len(w.stays)]bool{}
	for i := range w.acquires {
		switch a := &w.acquires[i]; {
		case a.at == holding, a.at == given && a.hold:
			uses[a.res] = true
		case a.at == outside:
			*a = localAcquire{try: a.try, calls: a.calls}
		}
	}
	for i, s := range w.stays {
		if over := s.post == unoccupied && !s.front && !s.late && !s.passes && !s.settling; over && !uses[i] {
			w.stays[i] = stay{}
		} else if over {
			w.stays[i] = stay{there: true, gone: true, lapsed: true}
		}
	}
	return w
}

func (w tenancy) acquireSteps(i int, step stepping) {
	a := w.acquires[i]
	do := func(name string, change func(w *tenancy, a *localAcquire)) {
		next := w
		change(&next, &next.acquires[i])
		step(name, next)
	}
	if a.at == outside && a.calls > 0 {
		do("is called!", func(_ *tenancy, a *localAcquire) {
			*a = localAcquire{at: entering, try: a.try, calls: a.calls - 1}
		})
	}
	if w.cancels > 0 && !a.cancelled && a.at != outside && a.at != holding {
		do("is cancelled!", func(w *tenancy, a *localAcquire) {
			a.cancelled = true
			if w.cancels--; a.at != inLine && a.at != chosen && a.at != given {
				return
			}
			there := false
			*w = w.with(func(r residents) { _, there = r.queue.remove(r.acquires[i]) })
			if there {
				w.acquires[i].at = outside
			}
		})
	}
	switch a.at {
	case entering:
		do("looks for an idle node", func(w *tenancy, _ *localAcquire) { w.takeOver(i) })
	case enqueuing:
		do("enters the local queue", func(w *tenancy, _ *localAcquire) { w.enqueue(i) })
	case given:
		do("gets its baton", func(w *tenancy, a *localAcquire) {
			switch {
			case a.hold && !w.stays[a.res].lapsed:
				a.at = holding
			case a.hold, a.lost && a.try:
				a.at = entering
			case a.lost:
				a.at = outside
			case a.place:
				a.at = queueing
			default:
				a.at = contending
			}
			if a.cancelled && a.at == entering {
				a.at = outside
			}
		})
	case contending:
		if !a.cancelled {
			do("creates its node", func(w *tenancy, a *localAcquire) {
				a.at = queueing
				w.appendNode(ofFront)
			})
		}
	case queueing:
		free := slices.IndexFunc(w.stays[:], func(s stay) bool { return !s.there })
		if w.nodes[0] == ofFront && free >= 0 {
			do("is admitted", func(w *tenancy, a *localAcquire) { // residence.begin
				a.at, a.res = holding, int8(free)
				w.nodes[0] = ofStay + int8(free)
				w.stays[free] = stay{there: true, front: true, held: true}
			})
		}
	case holding:
		do("releases", func(w *tenancy, a *localAcquire) {
			a.at = outside
			if s := &w.stays[a.res]; !s.lapsed {
				s.post, s.stayed, s.unwanted = looking, false, false
			}
		})
	}
	if (a.at == contending || a.at == queueing) && (a.cancelled || a.try && w.nodes[0] != ofFront && a.at == queueing) {
		do("gives up", func(w *tenancy, a *localAcquire) {
			place := a.at == queueing
			a.at = outside
			*w = w.pass(place)
		})
	}
}

// takeOver is RetainedLock.takeOver until it has a residence.
func (w *tenancy) takeOver(i int) {
	res := -1
	*w = w.with(func(r residents) { res = slices.Index(r.stays[:], r.queue.all.takeKept(r.queue.key)) })
	if w.acquires[i].at = enqueuing; res >= 0 {
		w.acquires[i].at, w.acquires[i].res = admitting, int8(res)
		s := &w.stays[res]
		s.post, s.admits, s.stayed, s.next = looking, true, true, int8(i)
	}
}

func (w *tenancy) enqueue(i int) {
	var ahead int
	var ok, enters bool
	*w = w.with(func(r residents) {
		ahead, ok = r.queue.all.enqueue(r.acquires[i])
		enters = r.acquires[i].queue != nil
	})
	a := &w.acquires[i]
	switch {
	case !ok:
		a.at = entering
	case ahead == 0:
		a.at = contending
	case enters:
		w.arrivals++
		a.at, a.order = inLine, w.arrivals
	default: // ErrNotAcquired
		a.at = outside
	}
}

func (w tenancy) staySteps(i int8, step stepping) {
	s := w.stays[i]
	do := func(name string, change func(w *tenancy, s *stay)) {
		next := w
		change(&next, &next.stays[i])
		step(name, next)
	}
	has := slices.Contains(w.nodes[:], ofStay+i)
	if w.losses > 0 && has && !s.lapsed {
		do("is lost!", func(w *tenancy, s *stay) {
			w.losses--
			s.lapsed, s.late = true, true
			w.nodes[slices.Index(w.nodes[:], ofStay+i)] = dying
		})
	}
	if s.late {
		do("hears of its loss", func(w *tenancy, _ *stay) {
			front := false
			*w = w.with(func(r residents) { front, _ = r.stays[i].loseLocked() })
			w.stays[i].late, w.stays[i].passes = false, front
		})
	}
	if s.passes {
		do("passes the queue on after its loss", func(w *tenancy, s *stay) {
			s.passes = false
			*w = w.pass(false)
		})
	}
	if has && !s.listed && !s.demanded {
		do("gets the listing", func(w *tenancy, s *stay) {
			s.listed, s.demanded = true, slices.Contains(w.nodes[:], ofOther)
			*w = w.takeForNews(i)
		})
	}
	if s.event {
		do("hears of the other client", func(w *tenancy, s *stay) {
			s.event, s.demanded = false, true
			*w = w.takeForNews(i)
		})
	}
	if s.settling {
		do("looks for news", func(w *tenancy, s *stay) {
			s.settling = false
			*w = w.takeForNews(i)
		})
	}
	if s.front && (!s.old || !s.unwanted) && !s.settling {
		do("is idle for a long time", func(_ *tenancy, s *stay) { s.unwanted = true })
		do("is busy for a long time", func(_ *tenancy, s *stay) { s.old = true })
	}
	if w.kept == i+1 && (s.old || s.unwanted) {
		do("ticks", func(w *tenancy, _ *stay) {
			*w = w.with(func(r residents) { r.stays[i].take(false) })
			w.stays[i].post, w.stays[i].stayed = looking, true
		})
	}
	w.decisionSteps(i, do)
}

// decisionSteps is residence.decide, and admitTo.
func (w tenancy) decisionSteps(i int8, do func(name string, change func(w *tenancy, s *stay))) {
	switch w.stays[i].post {
	case looking:
		do("looks", func(_ *tenancy, s *stay) { s.post, s.seen = judging, s.demand() })
	case judging:
		do("decides", func(w *tenancy, _ *stay) { w.decide(i) })
	case handing:
		do("makes a hold", func(w *tenancy, s *stay) {
			switch next := int(s.next); {
			case !s.lapsed:
				s.post = publishing
			case s.admits:
				s.post, s.admits, w.acquires[next].at = unoccupied, false, entering
			default:
				s.post = looking
				*w = w.putBack(next)
			}
		})
	case publishing:
		do("hands the node over", func(w *tenancy, s *stay) {
			a := &w.acquires[s.next]
			a.at, a.hold, a.res = given, true, i // over a base that is lost it has ended
			s.post, s.admits, s.held = unoccupied, false, s.front
			s.unwanted = false
			if s.handed++; s.demanded {
				s.after++
			}
		})
	case passing:
		do("removes the node and passes the queue on", func(w *tenancy, s *stay) {
			s.post = unoccupied
			if at := slices.Index(w.nodes[:], ofStay+i); at >= 0 {
				w.nodes[at] = dying
			}
			*w = w.pass(false)
		})
	}
}

func (w *tenancy) decide(i int8) {
	s := w.stays[i]
	known := w.situation(s)
	if s.admits {
		f := removed
		*w = w.with(func(r residents) {
			r.stays[i].knowLocked(&known)
			known.waiting, known.tried = true, w.acquires[s.next].try
			f = r.queue.key.retention.fate(known)
		})
		w.noteFate(i, f, int(s.next))
		if f != handedOver {
			w.stays[i].post, w.stays[i].admits = looking, false
			w.acquires[s.next].at = entering
		}
		return
	}
	if !s.front { // lost, and passed on
		w.stays[i].post = unoccupied
		return
	}
	f, next := removed, -1
	*w = w.with(func(r residents) {
		r.stays[i].knowLocked(&known)
		f = r.queue.key.retention.fate(known)
		if w.broken == "another client waits for Busy" && f == removed && known.waiting && s.front {
			f = handedOver
		}
		next = slices.Index(r.acquires[:], r.stays[i].settleLocked(known, f, s.stayed))
	})
	w.noteFate(i, f, next)
	switch f {
	case kept, heldBack:
		w.stays[i].post, w.stays[i].settling = unoccupied, true
	case removed:
		w.stays[i].post = passing
	}
}

// noteFate gives the node to the acquire, if that is its fate.
func (w *tenancy) noteFate(i int8, f fate, next int) {
	if f != handedOver {
		return
	}
	s := &w.stays[i]
	s.post, s.next, w.acquires[next].at = handing, int8(next), chosen
	if s.seen == demanded {
		s.since++
		if w.acquires[next].try {
			w.wrong = "a try overtakes another client"
		}
	}
}

func (w tenancy) check() error {
	fronts, valid := 0, 0
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, a := range w.acquires {
		count(&fronts, a.at == contending || a.at == queueing || a.at == given && !a.hold && !a.lost)
		holds := a.at == holding && !w.stays[a.res].lapsed
		if count(&valid, holds); holds && w.nodes[0] != ofStay+a.res {
			return errors.New("a hold lasts whose node is not the first")
		}
	}
	for _, s := range w.stays {
		count(&fronts, s.front || s.passes || s.post == passing)
		if s.since > w.afterDemand {
			return errors.New("another client waits for more holds than AfterDemand")
		}
	}
	last := int8(0)
	for _, i := range w.line {
		if i > 0 && w.acquires[i-1].order < last {
			return errors.New("the local queue is out of order")
		} else if i > 0 {
			last = w.acquires[i-1].order
		}
	}
	busy := 0
	switch count(&busy, w.busy); {
	case w.wrong != "":
		return errors.New(w.wrong)
	case w.kept > 0 && !w.stays[w.kept-1].heldBack && w.line[0] > 0:
		return errors.New("an acquire waits for an idle node")
	case valid > 1:
		return errors.New("two holds last")
	case fronts != busy:
		return fmt.Errorf("the local queue has %d fronts, and is busy: %t", fronts, w.busy)
	}
	return nil
}

// isEnd reports whether all acquires have ended, no node is left, and the other client was let in.
func (w tenancy) isEnd() bool {
	for _, a := range w.acquires {
		if a.at != outside {
			return false
		}
	}
	return w.nodes == [6]int8{} && !w.busy && w.kept == 0 && w.stays == [2]stay{}
}
