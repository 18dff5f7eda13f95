package model

import (
	"errors"
	"fmt"
	"slices"
)

// What can be wrong with a state; explore.ErrStuck is the fourth.
var (
	ErrExclusion = errors.New("two grants conflict")
	ErrOrder     = errors.New("a grant out of turn")
	ErrUnheard   = errors.New("a holder does not hear that its node was removed")
)

// check says what is wrong with a state.
func (w *world) check() error {
	if w.wrong != "" {
		return fmt.Errorf("%w: %s", ErrOrder, w.wrong)
	}
	leases := 0
	for a := range w.all {
		if w.deaf(int8(a)) {
			return fmt.Errorf("%w: %s, of %s", ErrUnheard, letter(int8(a)), w.text(w.all[a].me))
		}
		if !w.holds(int8(a)) {
			continue
		}
		if w.kinds[a] == Lease {
			leases++
		}
		for b := range a {
			if w.holds(int8(b)) && w.conflict(int8(b), int8(a)) {
				return fmt.Errorf("%w: those of %s and %s", ErrExclusion, letter(int8(b)), letter(int8(a)))
			}
		}
	}
	if leases > int(max(w.Limit, w.Raised)) {
		return fmt.Errorf("%w: %d leases", ErrExclusion, leases)
	}
	return nil
}

// holds reports whether a contender has a grant that must exclude others: not if its node was removed by hand, and the
// client may not have heard of that.
func (w *world) holds(by int8) bool {
	k := &w.all[by]
	return k.phase == holding && !slices.Contains(w.byHand, k.me)
}

func (w *world) conflict(a, b int8) bool {
	switch {
	case w.kinds[a] == Lease || w.kinds[b] == Lease:
		return false
	case w.kinds[b] == Heir && a == b-1:
		return false
	default:
		return !w.shared(a) || !w.shared(b)
	}
}

// deaf reports whether a holder's node is gone, and nothing is on its way by which the client will hear of it.
func (w *world) deaf(by int8) bool {
	k, c := &w.all[by], &w.clients[w.owner[by]]
	quiet := c.server >= 0 && c.valid && len(c.out) == 0 && len(c.in) == 0 && len(w.pending) == 0
	return k.phase == holding && quiet && w.kinds[by] != Plain && !w.off(S0|S7) &&
		(k.self == set || w.off(Rule4)) && !slices.Contains(w.servers[0].trees[w.dirOf(by)].names, k.me)
}

// see notes which nodes are the first now. It is the order by the servers' own state, and uses nothing of the queue.
func (w *world) see() {
	for d := range w.servers[0].trees {
		names := w.servers[0].trees[d].names
		for _, n := range names {
			if w.isFirst(n, names) && !slices.Contains(w.first, n) {
				w.first = append(w.first, n)
			}
		}
	}
}

func (w *world) isFirst(n name, names []name) bool {
	x := w.names[n]
	if x.try.by < 0 {
		return false
	}
	if x.dir == leaseDir {
		return len(names) <= int(w.servers[0].limit)
	}
	return !slices.ContainsFunc(names, func(m name) bool {
		y := w.names[m]
		return y.try.by >= 0 && y.number < x.number && (!w.shared(x.try.by) || !w.shared(y.try.by))
	})
}

// prune forgets what is known of nodes that no contender has, and that none can get any more.
func (w *world) prune() {
	used := func(n name) bool {
		y := w.names[n].try
		k := &w.all[y.by]
		return k.me == n || k.me == 0 && (k.phase == creating || k.phase == searching) && (k.try == y.number || slices.Contains(k.lost, y.number))
	}
	w.first = slices.DeleteFunc(w.first, func(n name) bool { return !used(n) })
	w.byHand = slices.DeleteFunc(w.byHand, func(n name) bool { return !used(n) })
	slices.Sort(w.first)
	slices.Sort(w.byHand)
}

// isEnd reports whether every acquire has ended, and nothing is left.
func (w *world) isEnd() bool {
	for _, t := range w.servers[0].trees {
		if slices.ContainsFunc(t.names, func(n name) bool { return w.names[n].try.by >= 0 }) {
			return false
		}
	}
	for by := range w.all {
		switch kind, p := w.kinds[by], w.all[by].phase; {
		case p == done, p == idle && kind == Heir, p == idle && kind == Lease && w.all[by-1].phase == done:
		default:
			return false
		}
	}
	for i := range w.clients {
		c := &w.clients[i]
		if len(c.out)+len(c.in)+len(c.removals)+len(c.orphans)+len(c.flying) > 0 {
			return false
		}
	}
	return len(w.pending)+len(w.late) == 0
}
