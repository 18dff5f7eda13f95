package model

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// ask sends a request if there is a connection.
func (w *world) ask(i int8, r request) {
	if c := &w.clients[i]; c.server >= 0 {
		c.out = append(c.out, r)
	}
}

// askBehindFence makes a read that no server answers before it has applied all that is older.
func (w *world) askBehindFence(i int8, r request) {
	if len(w.servers) > 1 {
		w.ask(i, request{op: fence, try: r.try})
	}
	w.ask(i, r)
}

// connect attaches a client to a server: removals go first (rule 6), then all watches are set again (rule 5), in any
// order.
func (w *world) connect(i, server int8, backwards bool) {
	c := &w.clients[i]
	if c.expired {
		w.beginSession(i)
	}
	c.server = server
	if !w.off(LimitInOrder) {
		c.limit = w.servers[server].limit
	}
	if !w.off(Rule6) {
		for _, n := range c.removals {
			w.ask(i, request{op: remove, name: n, dir: w.names[n].dir})
		}
	}
	order := slices.Clone(c.watches)
	if backwards {
		slices.Reverse(order)
	}
	for _, x := range order {
		if x.as == unset {
			w.setWatch(i, &c.watches[c.find(x.name)])
		}
	}
	for by := range w.all {
		if w.owner[by] != i {
			continue
		}
		switch k := &w.all[by]; k.phase {
		case searching:
			w.askBehindFence(i, request{op: search, try: try{int8(by), k.try}, dir: w.dirOf(int8(by))})
		case listing:
			w.list(int8(by))
		}
	}
}

// disconnect loses a connection, and what is on its way. A server may have executed a part of it.
func (w *world) disconnect(i int8) {
	c := &w.clients[i]
	c.server = -1
	c.out, c.in, c.armed = nil, nil, nil
	for j := range w.pending {
		if w.pending[j].origin == i {
			w.pending[j].origin = -1
		}
	}
	if !w.off(Rule5) {
		for j := range c.watches {
			c.watches[j].as = unset
		}
	}
	for _, y := range c.flying {
		c.orphans = append(c.orphans, orphan{try: y})
	}
	c.flying = nil
	for j := range c.orphans {
		c.orphans[j].asked = false
	}
	for by := range w.all {
		k := &w.all[by]
		switch {
		case w.owner[by] != i:
		case k.phase == creating:
			k.lost = append(k.lost, k.try)
			k.phase = searching
		case k.phase == entering:
			k.phase = listing
		}
	}
}

// beginSession is a client's hearing that its session is over. Its contenders queue again in the next one.
func (w *world) beginSession(i int8) {
	w.clients[i] = client{server: -1, valid: true, view: queue.View{Markers: w.markers}, unlisted: queue.Unlisted{Next: -1}, limit: w.clients[i].limit}
	for by := range w.all {
		k := &w.all[by]
		if w.owner[by] != i {
			continue
		}
		over := *k
		*k = contender{left: k.left, try: k.try, phase: idle}
		switch {
		case over.phase == holding: // the client has never heard of the end: see LeaseFirst
			w.next(int8(by))
		case over.phase == done, w.kinds[by] == Heir && over.phase != idle:
			k.phase = done
		}
	}
}

// receive applies a message: the session's table and its view first, then what contenders make of it (rule 1).
func (w *world) receive(i int8, m message) {
	c := &w.clients[i]
	c.seen = max(c.seen, m.seen)
	switch m.op {
	case create, createReader:
		w.created(i, m)
	case list, search, look:
		w.listed(i, m)
	case remove:
		c.removals = without(c.removals, m.name)
		w.gone(i, m.name, true)
	case read, readNames:
		w.answered(i, m)
	case deleted, changed:
		w.event(i, m)
	case limited:
		if !w.off(LimitInOrder) {
			c.limit = m.limit
		}
	}
}

func (w *world) listed(i int8, m message) {
	c := &w.clients[i]
	w.sweep(i, m.names)
	by := m.try.by
	if m.op == look {
		c.orphans = slices.DeleteFunc(c.orphans, func(o orphan) bool { return o.asked })
		return
	}
	if m.op == list && m.dir == queueDir && m.tree != 0 && w.kinds[by] != Plain {
		c.view.List(w.texts(m.names))
		c.view.Parsed()
		n := int32(len(m.names))
		c.unlisted.Listed(&zk.Stat{Czxid: int64(m.tree), Cversion: 2*m.count - n, NumChildren: n})
	}
	k := &w.all[by]
	switch {
	case m.try.number != k.try:
	case m.op == search && k.phase == searching:
		w.searched(by, m.names)
	case m.op == list && (k.phase == listing || k.phase == entering):
		if w.off(Rule6Listing) {
			k.phase, k.found = deciding, m.names
			return
		}
		w.decide(by, m.names)
	}
}

// sameDirectory is what unlisted.go asks of the watch on the directory.
func (w *world) sameDirectory(i int8) bool {
	c := &w.clients[i]
	j := c.find(queueName)
	return j >= 0 && c.watches[j].as == set && (w.off(Czxid) || c.unlisted.IsOf(int64(c.watches[j].tree)))
}

func (w *world) created(i int8, m message) {
	c := &w.clients[i]
	var d queue.Decision
	known := false
	if m.op == create && m.dir == queueDir && w.kinds[m.try.by] != Plain {
		node := w.names[m.name].node
		c.unlisted.Created(&c.view, node, true, w.sameDirectory(i))
		d, known = c.unlisted.Decisions[node.Name]
		c.unlisted.Decisions = nil
	}
	k := &w.all[m.try.by]
	if k.phase != creating || k.try != m.try.number { // it has left meanwhile
		c.flying = without(c.flying, m.try)
		if m.ok {
			w.removeNode(i, m.name)
		}
		return
	}
	if !m.ok {
		w.guardIsGone(m.try.by)
		return
	}
	withListing := k.list
	k.me, k.list, k.phase = m.name, false, entering
	w.leaveToSession(m.try.by)
	switch {
	case m.op == createReader:
		k.phase = admitted
	case !w.off(CounterEnd) && queue.Exhausted(w.text(m.name)):
		w.quit(m.try.by)
	case withListing:
	case known:
		w.adopt(m.try.by, d)
	default:
		w.list(m.try.by)
	}
}
