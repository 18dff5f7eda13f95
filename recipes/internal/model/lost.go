package model

import "slices"

// searched is the answer to a search for tries whose answers were lost. The node that was created first is the
// contender's; others are removed.
func (w *world) searched(by int8, names []name) {
	k := &w.all[by]
	var found name
	for _, n := range names {
		y := w.names[n].try
		if y.by != by || !slices.Contains(k.lost, y.number) {
			continue
		}
		k.lost = without(k.lost, y.number)
		if found == 0 {
			found = n
		} else {
			w.removeNode(w.owner[by], n)
		}
	}
	if found == 0 {
		w.start(by, k.list)
		return
	}
	k.me = found
	w.leaveToSession(by)
	if w.kinds[by] == Heir {
		k.phase = admitted
		return
	}
	w.decide(by, names)
}

// leaveToSession has the session look for tries whose fate is unknown.
func (w *world) leaveToSession(by int8) {
	k := &w.all[by]
	c := &w.clients[w.owner[by]]
	for _, number := range k.lost {
		if number == k.try { // without NewName the try was repeated
			continue
		}
		c.orphans = append(c.orphans, orphan{try: try{by, number}})
	}
	k.lost = nil
}

// sweep removes the nodes of orphans that a listing shows.
func (w *world) sweep(i int8, names []name) {
	c := &w.clients[i]
	for _, n := range names {
		y := w.names[n].try
		if j := slices.IndexFunc(c.orphans, func(o orphan) bool { return o.try == y }); j >= 0 {
			c.orphans = slices.Delete(c.orphans, j, j+1)
			w.removeNode(i, n)
		}
	}
}

func (w *world) isLate(y try) bool {
	return slices.ContainsFunc(w.late, func(r request) bool { return r.try == y })
}

// dueLook returns a try that the session looks for: S5 bounds how late a server may create it, and the last look comes
// after that.
func (w *world) dueLook(i int8) (y try, due bool) {
	c := &w.clients[i]
	if c.server < 0 || w.off(Looks) || slices.ContainsFunc(c.orphans, func(o orphan) bool { return o.asked }) {
		return try{}, false
	}
	for _, o := range c.orphans {
		if w.off(S5) || !w.isLate(o.try) {
			return o.try, true
		}
	}
	return try{}, false
}

func (w *world) look(i int8, y try) {
	c := &w.clients[i]
	for j := range c.orphans {
		o := &c.orphans[j]
		o.asked = w.dirOf(o.by) == w.dirOf(y.by) && (w.off(S5) || !w.isLate(o.try))
	}
	w.askBehindFence(i, request{op: look, try: y, dir: w.dirOf(y.by)})
}
