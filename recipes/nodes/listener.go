package nodes

// OnChange calls fn with each change: with true when the node is there, and with false when it is not, since it was
// deleted, its session is over, or another has the path. Calls come one at a time and in order, on a goroutine of the
// listener's own, after Start, and may use the node, Close included. The client logs a panic. stop ends the calls: none
// begins after it has returned, except for one that was about to, and it does not wait for one that is running; so does
// Close. OnChange panics if fn is nil.
//
// Curator: PersistentNode.getListenable(), which reports creations alone.
func (n *PersistentNode) OnChange(fn func(there bool)) (stop func()) {
	if fn == nil {
		panic("nodes: OnChange: the function is nil")
	}
	return n.changes.Add(func(there bool) {
		_ = n.client.CatchPanic("a listener of a persistent node", func() { fn(there) }) // CatchPanic logs a panic
	})
}
