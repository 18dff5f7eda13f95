package journaltest

import (
	"path"
	"slices"

	"github.com/gocurator/curator/framework/zktest"
)

// A tree is what the servers have, by their transactions.
type tree map[string]*directory

// A directory has had at least one child.
type directory struct {
	nodes   map[string]*node // by name
	made    map[string]int64 // by name: the zxid of its creation, also of nodes that are gone
	changes []childChange    // in order
	ended   bool             // its counter
}

type node struct {
	created int64 // zxid
	owner   int64 // session
	beside  bool  // a reader in the place of a writer of its session
	heard   bool  // its client knows of it
	viewed  bool  // its session has had a view of the directory since its creation
}

type childChange struct {
	zxid    int64
	name    string
	created bool
}

func (t tree) directory(dir string) *directory {
	d := t[dir]
	if d == nil {
		d = &directory{nodes: map[string]*node{}, made: map[string]int64{}}
		t[dir] = d
	}
	return d
}

// node returns nil if there is none.
func (t tree) node(dir, name string) *node {
	if d := t[dir]; d != nil {
		return d.nodes[name]
	}
	return nil
}

// change makes one change. It returns the node that is created or deleted, if that is known.
func (t tree) change(zxid int64, c zktest.Change) *node {
	dir, name := splitPath(c.Path)
	d := t.directory(dir)
	switch c.Kind {
	case zktest.Created:
		n := &node{created: zxid, owner: c.Owner}
		d.nodes[name], d.made[name] = n, zxid
		d.changes = append(d.changes, childChange{zxid, name, true})
		return n
	case zktest.Deleted:
		n := d.nodes[name]
		delete(d.nodes, name)
		d.changes = append(d.changes, childChange{zxid, name, false})
		return n
	default:
		return nil
	}
}

// wasDeleted reports whether a child of that name was ever deleted.
func (d *directory) wasDeleted(name string) bool {
	return slices.ContainsFunc(d.changes, func(c childChange) bool { return c.name == name && !c.created })
}

// at returns the names that were there after a transaction, sorted.
func (d *directory) at(zxid int64) []string {
	names := map[string]bool{}
	for name := range d.nodes {
		names[name] = true
	}
	for _, c := range slices.Backward(d.changes) {
		if c.zxid <= zxid {
			break
		}
		if c.created {
			delete(names, c.name)
		} else {
			names[c.name] = true
		}
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}

func splitPath(full string) (dir, name string) {
	dir, name = path.Split(full)
	return path.Clean("/" + dir), name
}
