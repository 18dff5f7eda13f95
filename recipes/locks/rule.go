package locks

// A turn is what a rule decides for a contender.
type turn struct {
	admitted bool
	ahead    string // whom to wait for, if not admitted: one node, the nearest that stands in the way
	behind   int    // how many stand in the way
}

// A rule says whether a contender is admitted, given the others in the queue in any order. It is a function of its arguments.
type rule func(others []node, me node) turn

// exclusiveTurn admits whoever has nobody before it: a mutex, a writer.
func exclusiveTurn(others []node, me node) turn {
	return behind(others, me, func(node) bool { return true })
}

// sharedTurn admits whoever has no writer before it: a reader. It waits for the nearest earlier writer; Curator's readers watch the
// first, and so wake once for each writer before them. Whom one watches is not visible to others.
func sharedTurn(others []node, me node) turn {
	return behind(others, me, func(n node) bool { return !n.shared })
}

// behind finds the nearest node before me that blocks.
func behind(others []node, me node, blocks func(node) bool) turn {
	t := turn{admitted: true}
	var nearest node
	for _, n := range others {
		if !n.before(me) || !blocks(n) {
			continue
		}
		if t.admitted || nearest.before(n) {
			nearest = n
		}
		t.admitted = false
		t.ahead = nearest.name
		t.behind++
	}
	return t
}
