package queue

// A Decision is the rule's, about one contender.
type Decision struct {
	Admitted    bool
	predecessor string // the nearest ahead
	nextAhead   string // the next nearest; empty if none matters
	ahead       int
}

// Decide is the rule. The nodes may have any order.
//
// A reader waits for the nearest writer; Curator's watch the first. Many readers behind two writers must not all wake
// when the first leaves: a reader has no nextAhead.
func Decide(nodes []Node, me Node) Decision {
	d := Decision{Admitted: true}
	var nearest, next Node
	for _, n := range nodes {
		if !n.Before(me) || n.Shared && me.Shared {
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
	d.predecessor = nearest.Name
	if !me.Shared {
		d.nextAhead = next.Name
	}
	return d
}
