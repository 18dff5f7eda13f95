package queue

import "slices"

// A view is what the contenders of one session know together of the nodes in their queue. It may still list deleted
// nodes, but it never misses a node ahead of one of our contenders: that is the invariant that the package's
// documentation is about. Facts go in, decisions come out; it has no clock and asks for nothing.
type view struct {
	markers    markers
	children   []string // the newest listing, if it has not been parsed yet
	nodes      []Node   // the newest listing, without the nodes that were deleted since, and with those that were appended
	writerLeft bool     // a writer's node was deleted since the view was whole, so a downgraded reader may be missing
}

// list makes the view that of a listing. The view keeps children.
func (v *view) list(children []string) {
	v.children, v.nodes, v.writerLeft = children, nil, false
}

// appendNext appends a node of ours, if it is known that the view has every other node of the directory; see unlisted.
// That makes the view whole: a writer that has left meanwhile has left no reader, since that reader's node would be one
// that it lacks.
func (v *view) appendNext(n Node) {
	v.nodes = append(v.parsed(), n)
	v.writerLeft = false
}

// remove takes out a node that was deleted. Names are unique, so this stays true whatever happens later.
func (v *view) remove(name string) {
	if i := slices.Index(v.children, name); i >= 0 {
		v.children = slices.Delete(v.children, i, i+1)
	} else if i := slices.IndexFunc(v.nodes, func(n Node) bool { return n.Name == name }); i >= 0 {
		v.nodes = slices.Delete(v.nodes, i, i+1)
	}
	v.writerLeft = v.writerLeft || mayReadOn(name)
}

// decision decides about a contender, if the view is enough for that: if it has the contender's node, and the counter
// cannot have come to its end since. A writer that has left may have become a reader with the same number. That is
// nothing to another reader; for every other contender the view then says that it does not know, until it is whole.
func (v *view) decision(me Node) (d Decision, known bool) {
	if me.number >= firstDoubtful || v.writerLeft && !me.Shared {
		return Decision{}, false
	}
	nodes := v.parsed()
	if !slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == me.Name }) {
		return Decision{}, false
	}
	return Decide(nodes, me), true
}

// parsed returns the nodes.
func (v *view) parsed() []Node {
	if v.children != nil {
		v.nodes = v.markers.ParseAll(v.children)
		v.children = nil
	}
	return v.nodes
}
