//go:build unix

package zookeeper

import (
	"fmt"
	"path/filepath"
	"time"
)

// Removals says when the server has removed nodes, by path: the time of day, rounded down to a millisecond. It reads
// the logs, in which a removal, by request or with a session, stands before any client can learn of it. Of a path
// that was removed more than once it is the last time.
func (s *Server) Removals() (map[string]time.Time, error) {
	all, err := transactions(filepath.Join(s.dataDir, "version-2"))
	if err != nil {
		return nil, err
	}
	return removals(all)
}

func removals(all []transaction) (map[string]time.Time, error) {
	removed := map[string]time.Time{}
	ephemerals := map[int64]map[string]bool{} // by session
	remove := func(path string, at time.Time) {
		removed[path] = at
		for _, own := range ephemerals {
			delete(own, path)
		}
	}
	for _, t := range all {
		changes, err := t.changes()
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			switch {
			case c.session:
				for path := range ephemerals[t.session] {
					removed[path] = t.at
				}
				delete(ephemerals, t.session)
			case c.removed:
				remove(c.path, t.at)
			case c.ephemeral:
				if ephemerals[t.session] == nil {
					ephemerals[t.session] = map[string]bool{}
				}
				ephemerals[t.session][c.path] = true
			}
		}
	}
	return removed, nil
}

// A change is what a transaction does to a node, or to all ephemeral ones of its session.
type change struct {
	path      string
	removed   bool
	ephemeral bool // it is created, as one that goes with the session
	session   bool // the session ends
}

// changes returns the creations, removals and ends of sessions that are in a transaction. Nothing is executed of one of
// which a part has failed.
func (t transaction) changes() ([]change, error) {
	const create, remove, multi, create2, removeContainer, failed, closeSession = 1, 2, 14, 15, 20, -1, -11
	body := &fields{rest: t.body}
	var all []change
	switch t.op {
	case create, create2:
		c := change{path: body.text()}
		_ = body.text() // data
		for n := body.int32(); n > 0 && !body.short; n-- {
			_, _, _ = body.int32(), body.text(), body.text() // permissions, scheme and id of an entry of the ACL
		}
		c.ephemeral = body.next(1)[0] != 0
		all = append(all, c)
	case remove, removeContainer:
		all = append(all, change{path: body.text(), removed: true})
	case closeSession:
		all = append(all, change{session: true})
	case multi:
		for n := body.int32(); n > 0 && !body.short; n-- {
			part := t
			part.op = body.int32()
			part.body = []byte(body.text())
			if part.op == failed {
				return nil, nil
			}
			more, err := part.changes()
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	if body.short {
		return nil, fmt.Errorf("transaction %#x of type %d is cut off", t.zxid, t.op)
	}
	return all, nil
}
