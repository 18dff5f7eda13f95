package zktest

// fireAsKeeper reports a change as ClickHouse Keeper does: an event for each watch, not for each client; first those of
// trees, with the path of the watch in place of the node's, then those that fire once, then persistent ones. It asks
// for no permission to read.
func (s *Server) fireAsKeeper(c change) {
	event, ok := map[changeKind]int32{changeCreate: eventCreated, changeDelete: eventDeleted, changeData: eventData}[c.kind]
	if !ok {
		return
	}
	for at := c.path; ; at, _ = split(at) {
		s.fireMode(&s.dataWatches, at, watchRecursive, event)
		if at == "/" {
			break
		}
	}
	parent, _ := split(c.path)
	for _, mode := range []watchMode{watchOnce, watchPersistent} {
		s.fireMode(&s.dataWatches, c.path, mode, event)
		if c.kind == changeDelete {
			s.fireMode(&s.childWatches, c.path, mode, event)
		}
		if c.kind != changeData {
			s.fireMode(&s.childWatches, parent, mode, eventChildren)
		}
	}
}

// fireMode sends an event for the watches of one mode on a path, with that path.
func (s *Server) fireMode(t *watchTable, path string, mode watchMode, event int32) {
	for _, c := range t.takeMode(path, mode) {
		if !s.loses(c, path) {
			c.sendEvent(event, path, -1)
		}
	}
}
