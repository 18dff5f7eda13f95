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
	withTTL := r.flags == flagTTL || r.flags == flagTTLSeq
	switch {
	case r.flags < 0 || r.flags > flagTTLSeq:
		return 0, false, codeBadArguments
	case (withTTL || op == OpCreateTTL) && !ttlNodes:
		return 0, false, codeUnimplemented
	case withTTL != (op == OpCreateTTL), withTTL && (r.ttl <= 0 || r.ttl > maxTTL):
		return 0, false, codeBadArguments
	}
	switch r.flags {
	case flagSequential, flagEphemeral | flagSequential, flagTTLSeq:
		sequential = true
	}
	switch {
	case withTTL:
		kind = kindTTL
	case op == OpCreateContainer:
		kind = kindContainer
	case r.flags == flagEphemeral, r.flags == flagEphemeral|flagSequential:
		kind = kindEphemeral
	default:
		kind = kindPersistent
	}
	return kind, sequential, 0
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
	acl, err := fixACL(r.acl, t.who, t.st.cfg.sasl != nil)
	if err != 0 {
		return "", err
	}
	parentPath := r.path[:strings.LastIndexByte(r.path, '/')]
	parent := t.st.tree.find(parentPath)
	switch {
	case parent == nil:
		return "", codeNoNode
	case !allowed(parent.acl, permCreate, t.who):
		return "", codeNoAuth
	}
	path = r.path
	if sequential {
		path = t.numbered(path, parentPath, parent)
	}
	if err := t.refused(path, parentPath, parent); err != 0 {
		return "", err
	}
	if err := t.withinQuota(path, int64(len(r.data)), 1); err != 0 {
		return "", err
	}
	if kind == kindContainer && r.flags&flagEphemeral != 0 {
		t.takeForEphemeral(path)
	}
	t.countOverrun(parentPath, parent)
	c := change{kind: changeCreate, path: path, data: r.data, acl: acl, parentACL: parent.acl, nodeKind: kind}
	switch kind {
	case kindEphemeral:
		c.owner = t.session
	case kindTTL:
		c.ttl = r.ttl
	}
	t.apply(c)
	return path, 0
}

// refused says why no node can stand at a path.
func (t *txn) refused(path, parentPath string, parent *node) code {
	switch {
	case !validPath(path):
		return codeBadArguments
	case t.st.tree.find(path) != nil:
		return codeNodeExists
	case parent.kind == kindEphemeral, t.takenFor[parentPath]:
		return codeEphemeralParent
	}
	return 0
}

// numbered appends the number of the parent's next child to a path.
func (t *txn) numbered(path, parentPath string, parent *node) string {
	number := parent.creates
	if t.st.tree.ending && number == math.MaxInt32 {
		number += t.overrun(parentPath)
	}
	return fmt.Sprintf("%s%010d", path, number)
}

func (t *txn) takeForEphemeral(path string) {
	if t.takenFor == nil {
		t.takenFor = make(map[string]bool)
	}
	t.takenFor[path] = true
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

// countOverrun counts a child that is created after the end of the numbers.
func (t *txn) countOverrun(path string, parent *node) {
	if !t.st.tree.ending || parent.creates != math.MaxInt32 {
		return
	}
	if t.beyond == nil {
		t.beyond = make(map[string]overrun)
	}
	t.beyond[path] = overrun{by: t.overrun(path) + 1, last: time.Now()}
}
