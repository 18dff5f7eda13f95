package model

import (
	"slices"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// start sends the create of a contender's next try, with a listing or without.
func (w *world) start(by int8, withListing bool) {
	k, i := &w.all[by], w.owner[by]
	if !w.off(NewName) || k.try < 0 {
		k.try++
	}
	k.phase, k.list = creating, withListing
	y := try{by, k.try}
	if w.kinds[by] == Heir {
		w.ask(i, request{op: createReader, try: y, name: w.all[by-1].me})
		return
	}
	w.ask(i, request{op: create, try: y, dir: w.dirOf(by)})
	if withListing {
		w.ask(i, request{op: list, try: y, dir: w.dirOf(by)})
	}
}

func (w *world) list(by int8) {
	k := &w.all[by]
	k.phase = listing
	w.ask(w.owner[by], request{op: list, try: try{by, k.try}, dir: w.dirOf(by)})
}

// decide decides by a listing (rule 2).
func (w *world) decide(by int8, names []name) {
	if w.kinds[by] == Lease {
		w.permit(by, names)
		return
	}
	node, children := w.names[w.all[by].me].node, w.texts(names)
	d, _, listed := w.markers.DecideByListing(children, node)
	if !listed && w.off(Rule2) {
		d, listed = queue.Decide(w.markers.ParseAll(children), node), true
	}
	if !listed {
		w.restart(by)
		return
	}
	w.adopt(by, d)
}

// adopt does what a decision says.
func (w *world) adopt(by int8, d queue.Decision) {
	k, i := &w.all[by], w.owner[by]
	switch kind := w.kinds[by]; {
	case d.Admitted:
		k.phase = admitted
		w.watchAhead(by, queueName)
	case kind == Try:
		w.quit(by)
	default:
		k.phase, k.pred = waiting, w.byText[d.Predecessor]
		if kind == Plain {
			w.watchAhead(by, k.pred)
			return
		}
		if k.self == none {
			k.self = set
			w.subscribe(i, k.me)
		}
		w.watchAhead(by, w.byText[d.Awaited()])
	}
}

// watchAhead moves the watch on a node ahead; queueName is none.
func (w *world) watchAhead(by int8, n name) {
	k, i := &w.all[by], w.owner[by]
	old := k.ahead
	if old == n {
		return
	}
	k.ahead, k.heard = n, false
	if old != 0 {
		w.unsubscribe(i, old)
	}
	if n != 0 {
		w.subscribe(i, n)
	}
}

// wake is a contender's look after the node that it waited for is gone, or its own.
func (w *world) wake(by int8) {
	k, i := &w.all[by], w.owner[by]
	if k.self == gone {
		w.restart(by)
		return
	}
	last := k.ahead
	k.ahead, k.heard = 0, false
	if w.kinds[by] == Plain {
		w.list(by)
		return
	}
	c := &w.clients[i]
	own := c.find(k.me)
	d, known := c.view.Decision(w.names[k.me].node)
	if known && d.Suffices(own >= 0 && c.watches[own].as == set || w.off(Rule3)) {
		w.adopt(by, d)
		return
	}
	if last != k.pred {
		w.watchAhead(by, k.pred)
	}
	w.list(by)
}

// bind makes the grant, if the session is valid at this moment (rule 1).
func (w *world) bind(by int8) {
	k := &w.all[by]
	heir := w.kinds[by] == Heir
	switch {
	case w.kinds[by] == Gate:
		k.phase = passed
		w.start(by+1, true)
	case !w.clients[w.owner[by]].valid && k.phase == admitted && heir:
		w.quit(by)
	case !w.clients[w.owner[by]].valid && k.phase == admitted:
		w.list(by)
	case k.phase == admitted && w.off(Rule1):
		k.phase = checked
	case k.self == gone:
		w.restart(by)
	case heir && w.all[by-1].phase != holding: // the writer was lost meanwhile
		w.quit(by)
	default:
		w.hold(by)
	}
}

func (w *world) hold(by int8) {
	k := &w.all[by]
	k.phase = holding
	if !slices.Contains(w.first, k.me) {
		w.wrong = letter(by) + " has a grant, and its node " + w.text(k.me) + " was never the first"
	}
	if w.kinds[by] == Lease {
		w.quit(by - 1)
	}
}

// end ends a grant: by its release, or by a loss.
func (w *world) end(by int8) {
	w.leave(by)
	w.next(by)
}

func (w *world) next(by int8) {
	k := &w.all[by]
	k.left--
	k.phase = idle
	if k.left <= 0 {
		k.phase = done
	}
}

// restart is what a contender does whose node was removed: it queues again.
func (w *world) restart(by int8) {
	w.leave(by)
	w.all[by].phase = idle
	switch w.kinds[by] {
	case Try, Heir:
		w.all[by].phase = done
	case Gate:
		w.leave(by + 1)
		w.all[by+1].phase = idle
	case Lease:
		w.leave(by - 1)
		w.all[by-1].phase = idle
	}
}

// quit is a contender's end without a grant.
func (w *world) quit(by int8) {
	w.leave(by)
	w.all[by].phase = done
}

// leave removes a contender's node.
func (w *world) leave(by int8) {
	k, i := &w.all[by], w.owner[by]
	if k.phase == creating {
		w.clients[i].flying = append(w.clients[i].flying, try{by, k.try})
	}
	w.leaveToSession(by)
	w.watchAhead(by, 0)
	if k.me != 0 {
		w.removeNode(i, k.me)
	}
	if k.self != none {
		k.self = none
		w.unsubscribe(i, k.me)
	}
	k.me, k.pred, k.found = 0, 0, nil
}

// removeNode begins the removal of a node, which goes on until it is answered.
func (w *world) removeNode(i int8, n name) {
	c := &w.clients[i]
	if slices.Contains(c.removals, n) {
		return
	}
	c.removals = append(c.removals, n)
	if j := c.find(n); j >= 0 {
		c.watches[j].as = unset
	}
	w.ask(i, request{op: remove, name: n, dir: w.names[n].dir})
}

// guardIsGone is for a writer that would become a reader, and whose node was removed by hand.
func (w *world) guardIsGone(heir int8) {
	w.all[heir].phase = done
	if w.all[heir-1].phase == holding {
		w.end(heir - 1)
	}
}
