package model

import "slices"

func (c *client) find(n name) int {
	return slices.IndexFunc(c.watches, func(x watch) bool { return x.name == n })
}

// subscribe shares the session's watch on a node, or makes it.
func (w *world) subscribe(i int8, n name) {
	c := &w.clients[i]
	if c.find(n) >= 0 {
		return
	}
	c.watches = append(c.watches, watch{name: n, as: unset})
	if c.server >= 0 && !slices.Contains(c.removals, n) {
		w.setWatch(i, &c.watches[len(c.watches)-1])
	}
}

func (w *world) setWatch(i int8, x *watch) {
	x.as = asked
	if x.name == leaseName {
		w.ask(i, request{op: readNames, name: x.name, dir: leaseDir})
		return
	}
	dir := int8(queueDir)
	if x.name != queueName {
		dir = w.names[x.name].dir
	}
	w.ask(i, request{op: read, name: x.name, dir: dir})
}

// unsubscribe ends the session's watch with its last subscription (rule 7).
func (w *world) unsubscribe(i int8, n name) {
	c := &w.clients[i]
	j := c.find(n)
	if j < 0 {
		return
	}
	shared := slices.ContainsFunc(w.subscribers(i), func(by int8) bool {
		k := &w.all[by]
		return k.me == n && k.self == set || k.ahead == n && !k.heard
	})
	if !shared || w.off(Rule7) {
		if c.watches[j].as == asked || c.watches[j].as == set {
			w.ask(i, request{op: unwatch, name: n})
		}
	}
	if !shared {
		c.watches = slices.Delete(c.watches, j, j+1)
	}
}

func (w *world) subscribers(i int8) (all []int8) {
	for by := range w.all {
		if w.owner[by] == i {
			all = append(all, int8(by))
		}
	}
	return all
}

// answered applies the answer to a read with a watch. One that is not the newest says nothing.
func (w *world) answered(i int8, m message) {
	c := &w.clients[i]
	j := c.find(m.name)
	newer := slices.ContainsFunc(c.out, func(r request) bool { return r.op == m.op && r.name == m.name }) ||
		slices.ContainsFunc(c.in, func(x message) bool { return x.op == m.op && x.name == m.name })
	if newer {
		return
	}
	switch {
	case m.op == readNames:
		w.sweep(i, m.names)
		if j >= 0 {
			c.watches[j].as = set
			c.leases = m.names
			w.lookAtLeases(i)
		}
	case !m.ok:
		w.gone(i, m.name, true)
	case j >= 0 && c.watches[j].as != unset:
		c.watches[j].as, c.watches[j].tree = set, m.tree
	}
}

// event applies an event, if something asked for it.
func (w *world) event(i int8, m message) {
	c := &w.clients[i]
	j := c.find(m.name)
	switch {
	case j < 0:
	case m.op == changed, c.watches[j].as == asked:
		w.setWatch(i, &c.watches[j])
	default:
		w.gone(i, m.name, true)
	}
}

// gone ends the watch on a node. The view loses the node, waiters will look, and a grant ends.
func (w *world) gone(i int8, n name, observed bool) {
	c := &w.clients[i]
	if j := c.find(n); j >= 0 {
		c.watches = slices.Delete(c.watches, j, j+1)
	}
	if n == queueName {
		return
	}
	if observed && w.names[n].dir == queueDir {
		c.view.Remove(w.text(n))
	}
	for _, by := range w.subscribers(i) {
		k := &w.all[by]
		if k.me == n && k.self == set {
			k.self = gone
		}
		if k.ahead == n {
			k.heard = true
		}
		if k.phase == holding && k.self == gone {
			w.end(by)
		}
	}
}
