package model

import (
	"slices"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// lapse ends a client's lease by its own clock, and all its grants with it.
func (w *world) lapse(i int8) {
	w.clients[i].valid = false
	for by := range w.all {
		if w.owner[by] == i && w.all[by].phase == holding {
			w.end(int8(by))
		}
	}
}

// expire has the servers end a session: its nodes go, and its requests are refused from then on.
func (w *world) expire(i int8) {
	w.disconnect(i)
	w.clients[i].expired = true
	w.late = slices.DeleteFunc(w.late, func(r request) bool { return w.owner[r.try.by] == i })
	for d := range w.servers[0].trees {
		var names []name
		for _, n := range w.servers[0].trees[d].names {
			if by := w.names[n].try.by; by >= 0 && w.owner[by] == i {
				names = append(names, n)
			}
		}
		if len(names) > 0 {
			w.commit(txn{op: remove, dir: int8(d), names: names, origin: -1})
		}
	}
}

// readsAgain reports whether a wait may read its node again, without an event. It always may; what is explored is the
// case that needs it.
func (w *world) readsAgain(by int8) bool {
	k, c := &w.all[by], &w.clients[w.owner[by]]
	if !w.off(S7) || w.off(Rule5Again) || k.ahead == 0 || c.server < 0 {
		return false
	}
	j := c.find(k.ahead)
	return j >= 0 && c.watches[j].as == set
}

// corrected is a listing without the nodes that the session is removing: without rule 6.
func (w *world) corrected(by int8) []name {
	leaving := w.clients[w.owner[by]].removals
	return slices.DeleteFunc(slices.Clone(w.all[by].found), func(n name) bool { return slices.Contains(leaving, n) })
}

// stranger is the name of a node that is no contender's, although it has a number.
func (t *table) stranger() name {
	const text = "other-0000000000"
	if n, ok := t.byText[text]; ok {
		return n
	}
	n := name(len(t.names))
	t.names = append(t.names, info{node: queue.Node{Name: text}, try: try{by: -1}})
	t.byText[text] = n
	return n
}
