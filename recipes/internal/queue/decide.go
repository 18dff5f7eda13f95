package queue

import "slices"

// A Decision is the rule's, about one contender.
type Decision struct {
	Admitted    bool
	Predecessor string // the nearest ahead
	NextAhead   string // the next nearest; empty if none matters
	First       string // the third and last ahead, where NextAhead is awaited; empty if there are more
	Ahead       int
	readers     bool // are among the nodes ahead: they hold together
}

// Decide is the rule. The nodes may have any order.
//
// A reader waits for the nearest writer (Curator's for the first), and has no NextAhead, or all readers behind two
// writers would wake when the first leaves.
func Decide(nodes []Node, me Node) Decision {
	d := Decision{Admitted: true}
	var nearest, next, third Node
	for _, n := range nodes {
		if !n.Before(me) || n.Shared && me.Shared {
			continue
		}
		switch {
		case d.Admitted:
			nearest = n
		case nearest.Before(n):
			nearest, next, third = n, nearest, next
		case d.Ahead == 1 || next.Before(n):
			next, third = n, next
		default:
			third = n
		}
		d.Admitted = false
		d.Ahead++
		d.readers = d.readers || n.Shared
	}
	d.Predecessor = nearest.Name
	if !me.Shared {
		d.NextAhead = next.Name
		if d.Ahead == 3 {
			d.First = third.Name
		}
	}
	return d
}

// DecideByListing is rule 2: a listing without the contender's node decides nothing.
func (ms Markers) DecideByListing(children []string, me Node) (d Decision, nodes []Node, listed bool) {
	if !slices.Contains(children, me.Name) {
		return Decision{}, nil, false
	}
	nodes = ms.ParseAll(children)
	return Decide(nodes, me), nodes, true
}

// Awaited is the node whose end the contender waits for before it decides again. Which: recipes/locks/DESIGN.md.
func (d Decision) Awaited() string {
	if d.NextAhead != "" && !mayReadOn(d.Predecessor) {
		return d.NextAhead
	}
	return d.Predecessor
}

// Suffices reports whether a decision by the view, after a wait, needs no listing: rule 3. watched says that the watch
// on the contender's node is set, and has not fired.
func (d Decision) Suffices(watched bool) bool { return d.Admitted && watched || d.Ahead == 1 }
