package txnlog

import (
	"maps"
	"slices"

	"github.com/gocurator/curator/framework/zktest"
)

// owners are the nodes that are there, and the ephemeral ones of each session.
type owners struct {
	of   map[string]origin
	with map[int64]map[string]struct{}
	// missed is called for each node that goes and was not known; it may be nil.
	missed func(path string, owner int64)
}

// An origin is a node's session, which is 0 unless it is ephemeral, and the zxid of its creation.
type origin struct {
	owner, czxid int64
	seen         int64 // the last zxid at which it was there for sure
	snapshot     int   // the number of the last one that has it, see filler.used
}

// complete adds to a transaction what logs do not say: the owners of deleted nodes, and the nodes that went with a
// session and are not listed. Those follow the listed ones, sorted by path.
func (o *owners) complete(t *zktest.Transaction) {
	for i := range t.Changes {
		switch c := &t.Changes[i]; c.Kind {
		case zktest.Created:
			o.remove(c.Path)
			o.add(c.Path, origin{owner: c.Owner, czxid: t.Zxid, seen: t.Zxid})
		case zktest.Deleted:
			owner, known := o.remove(c.Path)
			if owner != 0 {
				c.Owner = owner
			}
			if !known && o.missed != nil {
				o.missed(c.Path, c.Owner)
			}
		}
	}
	if !t.EndsSession {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(o.with[t.Session])) {
		owner, _ := o.remove(path)
		t.Changes = append(t.Changes, zktest.Change{Kind: zktest.Deleted, Path: path, Owner: owner})
	}
}

func (o *owners) add(path string, from origin) {
	if o.of == nil {
		o.of, o.with = map[string]origin{}, map[int64]map[string]struct{}{}
	}
	o.of[path] = from
	if from.owner == 0 {
		return
	}
	paths := o.with[from.owner]
	if paths == nil {
		paths = map[string]struct{}{}
		o.with[from.owner] = paths
	}
	paths[path] = struct{}{}
}

// remove returns the owner, 0 if there is none, and whether the node was there.
func (o *owners) remove(path string) (session int64, known bool) {
	from, known := o.of[path]
	if !known {
		return 0, false
	}
	session = from.owner
	delete(o.of, path)
	delete(o.with[session], path)
	if len(o.with[session]) == 0 {
		delete(o.with, session)
	}
	return session, true
}
