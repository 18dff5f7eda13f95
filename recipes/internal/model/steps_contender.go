package model

import "slices"

// contender takes the steps of a contender.
func (s stepper) contender(by int8) {
	k := &s.all[by]
	a := letter(by)
	switch k.phase {
	case idle:
		s.begin(by)
	case waiting:
		s.may(k.self == gone || k.heard, a+" wakes up", func(w *world) { w.wake(by) })
		s.may(s.readsAgain(by), a+" reads again", func(w *world) {
			c := &w.clients[w.owner[by]]
			w.setWatch(w.owner[by], &c.watches[c.find(k.ahead)])
		})
	case deciding:
		s.may(true, a+" looks at its listing", func(w *world) { w.decide(by, w.corrected(by)) })
	case admitted, checked:
		s.may(true, a+" takes its turn", func(w *world) { w.bind(by) })
	case holding:
		s.hold(by)
	case passed:
		s.may(k.self == gone, a+" wakes up", func(w *world) { w.restart(by) })
	}
	giveUp := s.faults.GiveUps > 0 && k.phase > idle && k.phase < holding && s.kinds[by] != Heir && s.kinds[by] != Lease
	s.may(giveUp, "! "+a+" gives up", func(w *world) {
		w.faults.GiveUps--
		w.quit(by)
		if w.kinds[by] == Gate {
			w.quit(by + 1)
		}
	})
}

// begin takes the first step of a contender, by its kind.
func (s stepper) begin(by int8) {
	a, kind, c := letter(by), s.kinds[by], &s.clients[s.owner[by]]
	if kind == Heir {
		s.may(s.all[by-1].phase == holding && c.server >= 0, a+" is to follow "+letter(by-1), func(w *world) { w.start(by, false) })
		return
	}
	begin := kind != Lease && c.server >= 0 && s.isNext(by)
	s.may(begin, a+" queues", func(w *world) { w.start(by, true) })
	known := s.Unlisted && kind != Plain && c.unlisted.Next >= 0 && s.sameDirectory(s.owner[by])
	s.may(begin && known, a+" queues without a listing", func(w *world) { w.start(by, false) })
}

// hold takes the steps of a holder. A writer waits with its release for the reader that is to follow it.
func (s stepper) hold(by int8) {
	a, k, heirComes := letter(by), &s.all[by], false
	if next := int(by) + 1; next < len(s.all) && s.kinds[next] == Heir {
		phase := s.all[next].phase
		heirComes = phase != idle && phase != holding && phase != done
	}
	s.may(!heirComes, a+" releases", func(w *world) { w.end(by) })
	s.may(k.self == none && s.kinds[by] != Plain && !s.off(Rule4), a+" watches its node", func(w *world) {
		w.all[by].self = set
		w.subscribe(w.owner[by], w.all[by].me)
	})
}

// isNext reports whether a contender may be the next to begin. Clients that are alike begin in the order of their
// numbers: any other history is one of these with the clients renamed. They are not alike if one has no faults, or
// acquires again.
func (s stepper) isNext(by int8) bool {
	i := s.owner[by]
	if s.unreduced || i == 0 || i == s.Steady || i == 1 && s.Again > 0 || !slices.Equal(s.Clients[i], s.Clients[i-1]) {
		return true
	}
	for x := range s.all {
		if s.owner[x] == i-1 && s.all[x].try >= 0 {
			return true
		}
	}
	return false
}
