package queue

// A Decision is what the rule says of one contender.
type Decision struct {
	Admitted    bool
	predecessor string // the nearest node ahead
	nextAhead   string // the next nearest; empty if there is none, or if it does not matter
	ahead       int    // how many nodes are ahead
}

// Decide is the rule: whether a contender is admitted, given the nodes in any order.
func Decide(nodes []Node, me Node) Decision {
	if me.Shared {
		return decideShared(nodes, me)
	}
	return decideExclusive(nodes, me)
}

// decideExclusive admits a mutex or a writer that has no node ahead.
func decideExclusive(nodes []Node, me Node) Decision {
	return nearestAhead(nodes, me, func(Node) bool { return true })
}

// decideShared admits a reader that has no writer ahead. It waits for the nearest one; Curator's readers watch the
// first, and wake for each, which others cannot see.
//
// Many readers may stand behind two writers, and must not all wake when the first leaves: no nextAhead.
func decideShared(nodes []Node, me Node) Decision {
	d := nearestAhead(nodes, me, func(n Node) bool { return !n.Shared })
	d.nextAhead = ""
	return d
}

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
