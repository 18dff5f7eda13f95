package zktest

import (
	"slices"
)

// fire reports a change that the server's tree shows to the watchers at this server.
func (s *Server) fire(c change) {
	if s.cfg.keeper {
		s.fireAsKeeper(c)
		return
	}
	parent, _ := split(c.path)
	switch c.kind {
	case changeCreate:
		s.notify(s.dataWatches.take(c.path, eventCreated), eventCreated, c.path, c.acl, c.zxid)
		s.notify(s.childWatches.take(parent, eventChildren), eventChildren, parent, c.parentACL, c.zxid)
	case changeDelete:
		// One Deleted for each connection, also if it watches data and children.
		hear := s.dataWatches.take(c.path, eventDeleted)
		s.notify(hear, eventDeleted, c.path, c.acl, c.zxid)
		var rest []*conn
		for _, other := range s.childWatches.take(c.path, eventDeleted) {
			if !slices.Contains(hear, other) {
				rest = append(rest, other)
			}
		}
		s.notify(rest, eventDeleted, c.path, c.acl, c.zxid)
		s.notify(s.childWatches.take(parent, eventChildren), eventChildren, parent, c.parentACL, c.zxid)
	case changeData:
		s.notify(s.dataWatches.take(c.path, eventData), eventData, c.path, c.acl, c.zxid)
	}
}

// notify queues the event for those who may read the node.
func (s *Server) notify(hear []*conn, event int32, path string, acl []aclEntry, zxid int64) {
	if s.cfg.version.before(version{3, 9, 0}) {
		zxid = -1
	}
	for _, c := range hear {
		heard := !s.cfg.version.guarded() || allowed(acl, permRead, c.auth)
		if heard && !s.loses(c, path) {
			c.sendEvent(event, path, zxid)
		}
	}
}

// loses reports whether an event is one that DropEvent or DropEvents drops.
func (s *Server) loses(c *conn, path string) bool {
	event, paths := Request{Session: c.id()}, []string{path}
	if slices.ContainsFunc(s.silenced, func(r *rule) bool { return r.match.matches(event, paths) }) {
		return true
	}
	for i, r := range s.lostEvents {
		if !r.match.matches(event, paths) {
			continue
		}
		if r.seen++; r.seen >= max(1, r.match.Nth) {
			s.lostEvents = slices.Delete(s.lostEvents, i, i+1)
			return true
		}
	}
	return false
}

func (c *conn) sendEvent(event int32, path string, zxid int64) {
	e := &c.srv.events
	e.openReply()
	e.int32(event)
	e.int32(3) // SyncConnected
	e.string(path)
	c.send(e.sealReply(-1, zxid, 0))
}
