package queue

// A Decision is what the rule says of one contender.
type Decision struct {
	Admitted    bool
	predecessor string // the nearest node that stands in the way, if not admitted
	nextAhead   string // the next nearest; empty if there is none, or if it does not matter
	ahead       int    // how many nodes stand in the way
}

// Decide is the rule: it says whether a contender is admitted, given the nodes in the queue in any order. It is a
// function of its arguments.
func Decide(nodes []Node, me Node) Decision {
	if me.Shared {
		return decideShared(nodes, me)
	}
	return decideExclusive(nodes, me)
}

// decideExclusive admits a contender that has no node ahead: of a mutex, a writer.
func decideExclusive(nodes []Node, me Node) Decision {
	return nearestAhead(nodes, me, func(Node) bool { return true })
}

// decideShared admits a contender that has no writer ahead: a reader. It waits for the nearest earlier writer;
// Curator's readers watch the first, and so wake once for each writer ahead. Which node one watches is not visible to
// others.
//
// There may be many readers behind two writers. They must not all wake when the first of those leaves, so for them it
// does not matter which one is the next nearest.
func decideShared(nodes []Node, me Node) Decision {
	d := nearestAhead(nodes, me, func(n Node) bool { return !n.Shared })
	d.nextAhead = ""
	return d
}

// nearestAhead finds the nearest nodes ahead of me that block.
func nearestAhead(nodes []Node, me Node, blocks func(Node) bool) Decision {
	d := Decision{Admitted: true}
	var nearest, next Node
	for _, n := range nodes {
		if !n.Before(me) || !blocks(n) {
			continue
		}
		switch {
		case d.Admitted:
			nearest = n
		case nearest.Before(n):
			nearest, next = n, nearest
		case d.ahead == 1 || next.Before(n):
			next = n
		}
		d.Admitted = false
		d.ahead++
	}
	d.predecessor, d.nextAhead = nearest.Name, next.Name
	return d
}
