package txnlog

import (
	"maps"
	"slices"
)

// owners are the ephemeral nodes that are there: the session of each, and the nodes of each session.
type owners struct {
	of   map[string]int64
	with map[int64]map[string]struct{}
}

// complete adds to all transactions what logs do not say.
func complete(all []Transaction) {
	known := owners{}
	for i := range all {
		known.complete(&all[i])
	}
}

// complete adds to a transaction what logs do not say: the owners of deleted nodes, and the nodes that went with a
// session and are not listed. Those follow the listed ones, sorted by path.
func (o *owners) complete(t *Transaction) {
	for i := range t.Changes {
		switch c := &t.Changes[i]; c.Kind {
		case Created:
			o.remove(c.Path)
			if c.Owner != 0 {
				o.add(c.Path, c.Owner)
			}
		case Deleted:
			if owner := o.remove(c.Path); owner != 0 {
				c.Owner = owner
			}
		}
	}
	if !t.EndsSession {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(o.with[t.Session])) {
		t.Changes = append(t.Changes, Change{Kind: Deleted, Path: path, Owner: o.remove(path)})
	}
}

func (o *owners) add(path string, session int64) {
	if o.of == nil {
		o.of, o.with = map[string]int64{}, map[int64]map[string]struct{}{}
	}
	o.of[path] = session
	paths := o.with[session]
	if paths == nil {
		paths = map[string]struct{}{}
		o.with[session] = paths
	}
	paths[path] = struct{}{}
}

// remove returns the owner, 0 if there is none.
func (o *owners) remove(path string) int64 {
	session, ok := o.of[path]
	if !ok {
		return 0
	}
	delete(o.of, path)
	delete(o.with[session], path)
	if len(o.with[session]) == 0 {
		delete(o.with, session)
	}
	return session
}
