//go:build unix

package zookeeper

import (
	"fmt"
	"path/filepath"
	"time"
)

// A Removal is the removal of a node.
type Removal struct {
	// At is the time of day, rounded down to a millisecond, at which the server took up what removed the node: before
	// it wrote that down, and before any client could learn of it.
	At time.Time
	// By is the session that asked for it, or that has ended. Owner is the one that the node belonged to, 0 if none.
	By, Owner int64
}

// Removals reads from the server's logs what it has removed, by path. Of a path that was removed more than once it is
// the last removal.
func (s *Server) Removals() (map[string]Removal, error) {
	all, err := transactions(filepath.Join(s.dataDir, "version-2"))
	if err != nil {
		return nil, err
	}
	return removals(all)
}

func removals(all []transaction) (map[string]Removal, error) {
	removed := map[string]Removal{}
	owners := map[string]int64{} // of ephemeral nodes that are there
	remove := func(path string, t transaction) {
		removed[path] = Removal{At: t.at, By: t.session, Owner: owners[path]}
		delete(owners, path)
	}
	for _, t := range all {
		changes, err := t.changes()
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			switch {
			case c.session:
				for path, owner := range owners {
					if owner == t.session {
						remove(path, t)
					}
				}
			case c.removed:
				remove(c.path, t)
			case c.ephemeral:
				owners[c.path] = t.session
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

// changes returns the creations, removals and ends of sessions that are in a transaction. A multi of which a part has
// failed changes nothing.
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
