package queue

import "slices"

// A view is what a session's contenders know of a queue's nodes: see the invariant in doc.go.
type view struct {
	markers    markers
	children   []string // the newest listing, until it is parsed
	nodes      []Node   // the same, parsed, with the appended nodes
	writerLeft bool     // a writer left since the view was whole, so a downgraded reader may be missing
}

// list makes the view that of a listing, and keeps children.
func (v *view) list(children []string) {
	v.children, v.nodes, v.writerLeft = children, nil, false
}

// appendNext appends a node of ours that makes the view whole: see unlisted.go.
func (v *view) appendNext(n Node) {
	v.nodes = append(v.parsed(), n)
	v.writerLeft = false
}

// remove takes out a deleted node. Names are unique, so this stays true.
func (v *view) remove(name string) {
	if i := slices.Index(v.children, name); i >= 0 {
		v.children = slices.Delete(v.children, i, i+1)
	} else if i := slices.IndexFunc(v.nodes, func(n Node) bool { return n.Name == name }); i >= 0 {
		v.nodes = slices.Delete(v.nodes, i, i+1)
	}
	v.writerLeft = v.writerLeft || mayReadOn(name)
}

// decision decides only where the invariant holds: see doc.go.
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

func (v *view) parsed() []Node {
	if v.children != nil {
		v.nodes = v.markers.ParseAll(v.children)
		v.children = nil
	}
	return v.nodes
}
