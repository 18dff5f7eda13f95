package model

// A writer of keys. What is left out does not matter: the ids of readers of messages, and the count of nodes in a row.
type encoder []byte

func (e *encoder) num(all ...int8) {
	for _, n := range all {
		*e = append(*e, byte(n))
	}
}

func (e *encoder) flag(all ...bool) {
	for _, b := range all {
		if b {
			*e = append(*e, 1)
		} else {
			*e = append(*e, 0)
		}
	}
}

func (e *encoder) name(n name) { *e = append(*e, byte(n), byte(n>>8)) }

func (e *encoder) all(names []name) {
	e.num(int8(len(names)))
	for _, n := range names {
		e.name(n)
	}
}

func (e *encoder) count(n int32) { *e = append(*e, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)) }

func (e *encoder) try(y try) { e.num(y.by, y.number) }

func (e *encoder) tries(all []try) {
	e.num(int8(len(all)))
	for _, y := range all {
		e.try(y)
	}
}

func (e *encoder) requests(all []request) {
	e.num(int8(len(all)))
	for _, r := range all {
		e.num(int8(r.op), r.dir)
		e.try(r.try)
		e.name(r.name)
	}
}

func (e *encoder) message(m message) {
	e.num(int8(m.op), m.dir, m.tree, m.limit, m.seen)
	e.try(m.try)
	e.name(m.name)
	e.flag(m.ok)
	e.all(m.names)
	e.count(m.count)
}

// key appends what identifies a state.
func (w *world) key(key []byte) []byte {
	e := encoder(key)
	for i := range w.servers {
		s := &w.servers[i]
		for d := range s.trees {
			e.num(s.trees[d].id)
			e.count(s.trees[d].created)
			e.all(s.trees[d].names)
		}
		e.num(s.limit)
	}
	e.num(int8(len(w.pending)))
	for _, t := range w.pending {
		e.num(int8(t.op), t.tree, t.dir, t.limit, t.origin)
		e.all(t.names)
		if t.origin >= 0 {
			e.message(t.answer)
		}
	}
	for i := range w.clients {
		e.client(w, &w.clients[i])
	}
	for i := range w.all {
		e.contender(&w.all[i])
	}
	e.requests(w.late)
	f := w.faults
	e.num(f.Cuts, f.Lates, f.Lapses, f.Hands, f.Sweeps, f.GiveUps, f.Strange, f.Unstored, f.Unsent, w.dirs[0], w.dirs[1])
	e.all(w.first)
	e.all(w.byHand)
	e.flag(w.wrong != "")
	return e
}

func (e *encoder) client(w *world, c *client) {
	e.num(c.server, c.seen, c.limit)
	e.flag(c.expired, c.valid, c.view.WriterLeft)
	e.requests(c.out)
	e.num(int8(len(c.in)))
	for _, m := range c.in {
		e.message(m)
	}
	e.all(c.armed)
	e.num(int8(len(c.view.Nodes)))
	for _, n := range c.view.Nodes {
		e.name(w.byText[n.Name])
	}
	e.count(int32(c.unlisted.DirCzxid))
	e.count(c.unlisted.Next)
	e.count(c.unlisted.Least)
	e.num(int8(len(c.watches)))
	for _, x := range c.watches {
		e.name(x.name)
		e.num(int8(x.as), x.tree)
	}
	e.all(c.removals)
	e.tries(c.flying)
	e.num(int8(len(c.orphans)))
	for _, o := range c.orphans {
		e.try(o.try)
		e.flag(o.asked)
	}
	e.all(c.leases)
}

func (e *encoder) contender(k *contender) {
	e.num(int8(k.phase), k.left, k.try, int8(k.self))
	e.flag(k.list, k.heard)
	e.name(k.me)
	e.name(k.ahead)
	e.name(k.pred)
	e.num(int8(len(k.lost)))
	e.num(k.lost...)
	e.all(k.found)
}
