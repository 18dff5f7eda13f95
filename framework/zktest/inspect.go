package zktest

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"
)

// Session describes a session that the server keeps.
type Session struct {
	ID         int64
	Timeout    time.Duration // as negotiated
	Connected  bool
	Ephemerals []string // sorted
}

// Create makes a persistent node as an administrator: no permission is asked.
// Missing parents are an error, as for a client.
func (s *Server) Create(path string, data []byte) error {
	return s.administer(writeOp{op: OpCreate, node: newNode{path: path, data: bytes.Clone(data), acl: openACL}})
}

// Delete removes a node without children, whatever its version and ACL.
func (s *Server) Delete(path string) error {
	return s.administer(writeOp{op: OpDelete, node: newNode{path: path}, version: -1})
}

// SetData replaces a node's data, whatever its version and ACL.
func (s *Server) SetData(path string, data []byte) error {
	return s.administer(writeOp{op: OpSetData, node: newNode{path: path, data: bytes.Clone(data)}, version: -1})
}

// ACL is an entry of a node's access control list, with the fields of
// go-zookeeper's: zktest.ACL(entry) converts one.
type ACL struct {
	Perms  int32 // a sum of 1 (read), 2 (write), 4 (create), 8 (delete) and 16 (admin)
	Scheme string
	ID     string
}

// SetACL replaces a node's access control list, whatever its ACL and Aversion.
// No watch fires, as on a real server: clients notice when they ask again, or by
// what they do not hear any more. It refuses what the server would refuse of a
// client: an empty list, and entries that it does not know.
func (s *Server) SetACL(path string, entries ...ACL) error {
	acl := make([]aclEntry, len(entries))
	for i, e := range entries {
		acl[i] = aclEntry{e.Perms, identity{e.Scheme, e.ID}}
	}
	return s.administer(writeOp{op: OpSetACL, node: newNode{path: path, acl: acl}, version: -1})
}

// administer makes one change as the super user; watches fire as for any.
func (s *Server) administer(w writeOp) error {
	s.mu.Lock()
	defer s.unlock()
	t := s.begin(0, []identity{{"super", ""}})
	if r := t.step(w); r.err != 0 {
		return r.err
	}
	t.commit()
	return nil
}

// Exists reports whether there is a node.
func (s *Server) Exists(path string) bool {
	_, ok := s.Stat(path)
	return ok
}

// Stat returns what ZooKeeper says about a node; false if there is none.
func (s *Server) Stat(path string) (Stat, bool) {
	s.mu.Lock()
	defer s.unlock()
	n := s.view.find(path)
	if n == nil {
		return Stat{}, false
	}
	return n.stat(), true
}

// Data returns a copy of a node's data; false if there is no such node.
func (s *Server) Data(path string) ([]byte, bool) {
	s.mu.Lock()
	defer s.unlock()
	n := s.view.find(path)
	if n == nil {
		return nil, false
	}
	return bytes.Clone(n.data), true
}

// Children returns the sorted names of a node's children; nil if there is no
// such node.
func (s *Server) Children(path string) []string {
	s.mu.Lock()
	defer s.unlock()
	n := s.view.find(path)
	if n == nil {
		return nil
	}
	return n.sortedChildren()
}

// Sessions lists the live sessions by id.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.unlock()
	list := make([]Session, 0, len(s.sessions))
	for _, sess := range s.sessions {
		list = append(list, Session{
			ID: sess.id, Timeout: sess.timeout, Connected: sess.conn != nil,
			Ephemerals: s.tree.ephemeralsOf(sess.id),
		})
	}
	slices.SortFunc(list, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Connections counts the open connections, those without a session included.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.unlock()
	return len(s.open)
}

// Counts returns how many requests of each kind have been executed, failed ones included. CountRequests has those of
// some paths or one session.
func (s *Server) Counts() map[Op]int {
	s.mu.Lock()
	defer s.unlock()
	return maps.Clone(s.counts)
}

// CountRequests counts the matching requests that are executed from now on, failed
// ones included, at any server of the ensemble. A multi or multiRead counts once. Nth
// has no meaning here. count returns the number so far.
func (s *Server) CountRequests(m Match) (count func() int) {
	counter := &counter{match: m}
	s.mu.Lock()
	defer s.unlock()
	s.counters = append(s.counters, counter)
	s.rehook()
	return func() int {
		s.mu.Lock()
		defer s.unlock()
		return counter.n
	}
}

func (s *Server) sortedConns() []*conn {
	return slices.SortedFunc(maps.Keys(s.open), func(a, b *conn) int { return cmp.Compare(a.number, b.number) })
}
