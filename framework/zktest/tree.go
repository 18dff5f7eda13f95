package zktest

import (
	"math/rand/v2"
	"slices"
)

// node is one znode. creates counts the children ever created under it: the
// next sequence number, from which the visible cversion is derived.
type node struct {
	data     []byte
	acl      []aclEntry
	children map[string]struct{}
	czxid    int64
	mzxid    int64
	pzxid    int64
	ctime    int64
	mtime    int64
	owner    int64
	ttl      int64 // milliseconds; 0: none
	version  int32
	aversion int32
	creates  int32
	changes  int32 // counts changes of children's data, for servers whose visible cversion has them
	kind     nodeKind
}

type nodeKind uint8

const (
	kindPersistent nodeKind = iota
	kindEphemeral
	kindContainer
	kindTTL
)

// Stat is what ZooKeeper says about a node. Times are milliseconds since the
// Unix epoch.
type Stat struct {
	Czxid          int64 // transaction that created the node
	Mzxid          int64 // transaction that last changed its data
	Ctime          int64
	Mtime          int64
	Version        int32 // changes of the data
	Cversion       int32 // creations and deletions of children
	Aversion       int32 // changes of the ACL
	EphemeralOwner int64 // session of an ephemeral node; 0 for every other
	DataLength     int32
	NumChildren    int32
	Pzxid          int64 // transaction that last created or deleted a child
}

func (n *node) stat() Stat {
	s := Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Aversion: n.aversion,
		Cversion:   2*n.creates - int32(len(n.children)) + n.changes,
		DataLength: int32(len(n.data)), NumChildren: int32(len(n.children)), Pzxid: n.pzxid,
	}
	if n.kind == kindEphemeral {
		s.EphemeralOwner = n.owner
	}
	return s
}

// shuffledChildren is what a listing shows. A real server's order is that of a hash table too. Here it changes with
// each child that comes or goes, and it is the same in each run.
func (n *node) shuffledChildren() []string {
	names := n.sortedChildren()
	var random rand.PCG
	random.Seed(uint64(n.pzxid), 0)
	for left := len(names); left > 1; left-- {
		i := random.Uint64() % uint64(left)
		names[i], names[left-1] = names[left-1], names[i]
	}
	return names
}

func (n *node) sortedChildren() []string {
	names := make([]string, 0, len(n.children))
	for name := range n.children {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// tree is the data of one server. It obeys: whether a change is allowed has
// been decided before it gets here.
type tree struct {
	nodes      map[string]*node
	ephemerals map[int64]map[string]struct{}
	containers map[string]*node
	ttls       map[string]*node
	limited    map[string]struct{} // paths with a quota
	ending     bool                // sequence numbers end
	keeper     bool                // Stats of parents are as ClickHouse Keeper's
}

func newTree(cfg *config) *tree {
	t := &tree{
		ending:     cfg.version.ending(),
		keeper:     cfg.keeper,
		nodes:      make(map[string]*node),
		ephemerals: make(map[int64]map[string]struct{}),
		containers: make(map[string]*node),
		ttls:       make(map[string]*node),
		limited:    make(map[string]struct{}),
	}
	t.nodes["/"] = &node{data: []byte{}, acl: openACL}
	for _, path := range []string{"/zookeeper", "/zookeeper/quota", "/zookeeper/config"} {
		t.apply(change{kind: changeCreate, path: path, data: []byte{}, acl: openACL})
	}
	// A real server's own nodes do not count as creations of the root and
	// the configuration can be read, not written.
	t.nodes["/"].creates = 0
	t.nodes["/zookeeper"].creates = 0
	t.nodes["/zookeeper/config"].acl, t.nodes["/zookeeper/config"].aversion = readACL, -1
	return t
}

// find knows the empty path as the root, as the real server does.
func (t *tree) find(path string) *node {
	if path == "" {
		path = "/"
	}
	return t.nodes[path]
}

func (t *tree) insert(path string, n *node) {
	t.nodes[path] = n
	parentPath, name := split(path)
	parent := t.nodes[parentPath]
	if parent.children == nil {
		parent.children = make(map[string]struct{})
	}
	parent.children[name] = struct{}{}
	switch n.kind {
	case kindEphemeral:
		mine := t.ephemerals[n.owner]
		if mine == nil {
			mine = make(map[string]struct{})
			t.ephemerals[n.owner] = mine
		}
		mine[path] = struct{}{}
	case kindContainer:
		t.containers[path] = n
	case kindTTL:
		t.ttls[path] = n
	}
}

func (t *tree) remove(path string) {
	n := t.nodes[path]
	delete(t.nodes, path)
	parentPath, name := split(path)
	parent := t.nodes[parentPath]
	delete(parent.children, name)
	if len(parent.children) == 0 {
		parent.children = nil
	}
	switch n.kind {
	case kindEphemeral:
		delete(t.ephemerals[n.owner], path)
		if len(t.ephemerals[n.owner]) == 0 {
			delete(t.ephemerals, n.owner)
		}
	case kindContainer:
		delete(t.containers, path)
	case kindTTL:
		delete(t.ttls, path)
	}
}

// ephemeralsOf lists a session's nodes in order.
func (t *tree) ephemeralsOf(session int64) []string {
	return sortedKeys(t.ephemerals[session])
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
