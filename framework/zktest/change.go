package zktest

import (
	"math"
	"strings"
)

type changeKind uint8

const (
	changeCreate changeKind = iota
	changeDelete
	changeData
	changeACL
	changeCounter
)

// change is one decided modification: it always succeeds, on every replica.
type change struct {
	kind      changeKind
	path      string
	data      []byte
	acl       []aclEntry // the node's: the new one, or the one it had
	parentACL []aclEntry
	zxid      int64
	time      int64
	owner     int64
	ttl       int64
	counter   int32
	was       int32 // length of the data that it had
	nodeKind  nodeKind
}

// apply makes the change and returns how to take it back.
func (t *tree) apply(c change) (undo func()) {
	unmake := t.make(c)
	if len(t.limited) == 0 && !strings.HasPrefix(c.path, quotaRoot) {
		return unmake
	}
	uncount := t.account(c)
	return func() {
		uncount()
		unmake()
	}
}

func (t *tree) make(c change) (undo func()) {
	switch c.kind {
	case changeCreate:
		return t.applyCreate(c)
	case changeDelete:
		return t.applyDelete(c)
	}
	n := t.find(c.path)
	before := *n
	switch c.kind {
	case changeData:
		n.data, n.mzxid, n.mtime = c.data, c.zxid, c.time
		n.version++
		if t.keeper && c.path != "/" {
			parentPath, _ := split(c.path)
			parent := t.nodes[parentPath]
			parent.changes++
			return func() { *n = before; parent.changes-- }
		}
	case changeACL:
		n.acl = c.acl
		n.aversion++
	case changeCounter:
		n.creates = c.counter
	}
	return func() { *n = before }
}

func (t *tree) applyCreate(c change) (undo func()) {
	n := &node{
		data: c.data, acl: c.acl, kind: c.nodeKind, owner: c.owner, ttl: c.ttl,
		czxid: c.zxid, mzxid: c.zxid, pzxid: c.zxid, ctime: c.time, mtime: c.time,
	}
	parentPath, _ := split(c.path)
	parent := t.nodes[parentPath]
	pzxid := parent.pzxid
	creates := parent.creates
	t.insert(c.path, n)
	if !t.ending || creates < math.MaxInt32 {
		parent.creates++
		parent.pzxid = c.zxid
	}
	return func() {
		t.remove(c.path)
		parent.creates = creates
		parent.pzxid = pzxid
	}
}

func (t *tree) applyDelete(c change) (undo func()) {
	n := t.nodes[c.path]
	parentPath, _ := split(c.path)
	parent := t.nodes[parentPath]
	pzxid := parent.pzxid
	t.remove(c.path)
	if !t.keeper {
		parent.pzxid = c.zxid
	}
	return func() {
		t.insert(c.path, n)
		parent.pzxid = pzxid
	}
}
