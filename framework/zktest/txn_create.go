package zktest

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// newNode is a request to create.
type newNode struct {
	path  string
	data  []byte
	acl   []aclEntry
	flags int32
	ttl   int64
}

// Create modes of the protocol.
const (
	flagEphemeral  = 1
	flagSequential = 2
	flagContainer  = 4
	flagTTL        = 5
	flagTTLSeq     = 6
)

const maxTTL = 1<<40 - 1

// kindOf decides what is made; a plain create with the container flag makes
// a plain node, as on the real server.
func kindOf(op Op, r newNode, ttlNodes bool) (kind nodeKind, sequential bool, err code) {
	ttl := op == OpCreateTTL || r.flags == flagTTL || r.flags == flagTTLSeq
	switch {
	case r.flags < 0 || r.flags > flagTTLSeq:
		return 0, false, codeBadArguments
	case ttl && !ttlNodes:
		return 0, false, codeUnimplemented
	case ttl && (op != OpCreateTTL || r.flags < flagTTL || r.ttl <= 0 || r.ttl > maxTTL):
		return 0, false, codeBadArguments
	}
	sequential = r.flags == 2 || r.flags == 3 || r.flags == flagTTLSeq
	switch {
	case op == OpCreateTTL:
		return kindTTL, sequential, 0
	case op == OpCreateContainer:
		return kindContainer, sequential, 0
	case r.flags == flagEphemeral || r.flags == flagEphemeral|flagSequential:
		return kindEphemeral, sequential, 0
	}
	return kindPersistent, sequential, 0
}

// create checks in the real server's order, on which clients' errors depend.
func (t *txn) create(op Op, r newNode) (path string, err code) {
	kind, sequential, err := kindOf(op, r, t.st.cfg.ttlNodes)
	if err != 0 {
		return "", err
	}
	if !strings.Contains(r.path, "/") || strings.Contains(r.path, "\x00") {
		return "", codeBadArguments
	}
	acl, err := fixACL(r.acl, t.who)
	if err != 0 {
		return "", err
	}
	tree := t.st.tree
	parentPath := r.path[:strings.LastIndexByte(r.path, '/')]
	parent := tree.find(parentPath)
	if parent == nil {
		return "", codeNoNode
	}
	if !allowed(parent.acl, permCreate, t.who) {
		return "", codeNoAuth
	}
	path = r.path
	if sequential {
		number := parent.creates
		if tree.ending && number == math.MaxInt32 {
			number += t.overrun(parentPath)
		}
		path = fmt.Sprintf("%s%010d", path, number)
	}
	switch {
	case !validPath(path):
		return "", codeBadArguments
	case tree.find(path) != nil:
		return "", codeNodeExists
	case parent.kind == kindEphemeral, t.takenFor[parentPath]:
		return "", codeEphemeralParent
	}
	if err := t.withinQuota(path, int64(len(r.data)), 1); err != 0 {
		return "", err
	}
	c := change{kind: changeCreate, path: path, data: r.data, acl: acl, parentACL: parent.acl, nodeKind: kind}
	switch kind {
	case kindEphemeral:
		c.owner = t.session
	case kindTTL:
		c.ttl = r.ttl
	}
	if kind == kindContainer && r.flags&flagEphemeral != 0 {
		if t.takenFor == nil {
			t.takenFor = make(map[string]bool)
		}
		t.takenFor[path] = true
	}
	if tree.ending && parent.creates == math.MaxInt32 {
		t.overrunBy1(parentPath)
	}
	t.apply(c)
	return path, 0
}

// overrun is by how much the numbers under a node have gone past their end: the
// real server counts in the changes that are under way, and forgets them as
// they are applied.
type overrun struct {
	by   int32
	last time.Time // when a child was created
}

func (t *txn) overrun(parent string) int32 {
	if o, ok := t.beyond[parent]; ok {
		return o.by
	}
	if o, ok := t.st.beyond[parent]; ok && time.Since(o.last) < t.st.cfg.commitTime {
		return o.by
	}
	return 0
}

func (t *txn) overrunBy1(parent string) {
	if t.beyond == nil {
		t.beyond = make(map[string]overrun)
	}
	t.beyond[parent] = overrun{by: t.overrun(parent) + 1, last: time.Now()}
}
