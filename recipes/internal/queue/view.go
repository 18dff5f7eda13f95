package queue

import "slices"

// A View is what a session's contenders know of a queue's nodes: see the invariant in doc.go.
type View struct {
	Markers    Markers
	children   []string // the newest listing, until it is parsed
	Nodes      []Node   // the same, parsed, with the appended nodes
	WriterLeft bool     // a writer left since the view was whole, so a downgraded reader may be missing
}

// List makes the view that of a listing, and keeps children.
func (v *View) List(children []string) {
	v.children, v.Nodes, v.WriterLeft = children, nil, false
}

// AppendNext appends a node of ours that makes the view whole: see unlisted.go.
func (v *View) AppendNext(n Node) {
	v.Nodes = append(v.Parsed(), n)
	v.WriterLeft = false
}

// Remove takes out a deleted node. Names are unique, so this stays true.
func (v *View) Remove(name string) {
	if i := slices.Index(v.children, name); i >= 0 {
		v.children = slices.Delete(v.children, i, i+1)
	} else if i := slices.IndexFunc(v.Nodes, func(n Node) bool { return n.Name == name }); i >= 0 {
		v.Nodes = slices.Delete(v.Nodes, i, i+1)
	}
	v.WriterLeft = v.WriterLeft || mayReadOn(name)
}

// Decision decides only where the invariant holds: see doc.go.
func (v *View) Decision(me Node) (d Decision, known bool) {
	if me.number >= firstDoubtful || v.WriterLeft && !me.Shared {
		return Decision{}, false
	}
	nodes := v.Parsed()
	if !slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == me.Name }) {
		return Decision{}, false
	}
	return Decide(nodes, me), true
}

// Parsed returns the nodes that the view has.
func (v *View) Parsed() []Node {
	if v.children != nil {
		v.Nodes = v.Markers.ParseAll(v.children)
		v.children = nil
	}
	return v.Nodes
}
