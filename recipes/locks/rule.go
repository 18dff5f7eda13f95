package locks

// A turn is what a rule decides for a contender.
type turn struct {
	admitted bool
	ahead    string // the nearest node that stands in the way, if not admitted
	further  string // the next nearest; empty if there is none, or if it does not matter
	behind   int    // how many stand in the way
}

// turnOf says whether a contender is admitted, given the others in the queue in any order. It is a function of its arguments.
func turnOf(others []node, me node) turn {
	if me.shared {
		return sharedTurn(others, me)
	}
	return exclusiveTurn(others, me)
}

// exclusiveTurn admits whoever has nobody before it: a mutex, a writer.
func exclusiveTurn(others []node, me node) turn {
	return behind(others, me, func(node) bool { return true })
}

// sharedTurn admits whoever has no writer before it: a reader. It waits for the nearest earlier writer; Curator's readers watch the
// first, and so wake once for each writer before them. Whom one watches is not visible to others.
//
// There may be many readers behind two writers. They are not all to be told when the first of those leaves, so for them it does
// not matter which one is the next nearest.
func sharedTurn(others []node, me node) turn {
	t := behind(others, me, func(n node) bool { return !n.shared })
	t.further = ""
	return t
}

// behind finds the nearest nodes before me that block.
func behind(others []node, me node, blocks func(node) bool) turn {
	t := turn{admitted: true}
	var nearest, next node
	for _, n := range others {
		if !n.before(me) || !blocks(n) {
			continue
		}
		switch {
		case t.admitted:
			nearest = n
		case nearest.before(n):
			nearest, next = n, nearest
		case t.behind == 1 || next.before(n):
			next = n
		}
		t.admitted = false
		t.behind++
	}
	t.ahead, t.further = nearest.name, next.name
	return t
}
