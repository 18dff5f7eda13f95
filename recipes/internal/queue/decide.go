package queue

// A Decision is the rule's, about one contender.
type Decision struct {
	Admitted    bool
	predecessor string // the nearest ahead
	nextAhead   string // the next nearest; empty if none matters
	ahead       int
}

// Decide is the rule. The nodes may have any order.
func Decide(nodes []Node, me Node) Decision {
	if me.Shared {
		return decideShared(nodes, me)
	}
	return decideExclusive(nodes, me)
}

func decideExclusive(nodes []Node, me Node) Decision {
	return nearestAhead(nodes, me, func(Node) bool { return true })
}

// decideShared lets a reader wait for the nearest writer; Curator's watch the first. Many readers behind two writers
// must not all wake when the first leaves: no nextAhead.
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
