package zktest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// txn is one transaction: each step is checked against the leader's tree and
// applied to it at once, so that later steps of a multi see earlier ones.
// Either commit or rollback ends it, with the store locked throughout.
type txn struct {
	st      *store
	zxid    int64
	time    int64
	session int64
	who     []identity
	changes []change
	undo    []func()
	usage   map[string][]byte // of quotas, before this
	// Containers that were made here with an ephemeral's flags: until the end of
	// the transaction they are taken for such.
	takenFor map[string]bool
	beyond   map[string]overrun // children created after sequence numbers have ended
	ended    int64              // the session that ends with this; 0: none
	endedBy  *conn
}

// begin takes a zxid, which is used up even if the transaction fails.
func (st *store) begin(session int64, who []identity) *txn {
	st.zxid++
	return &txn{st: st, zxid: st.zxid, time: time.Now().UnixMilli(), session: session, who: who}
}

func (t *txn) apply(c change) {
	c.zxid, c.time = t.zxid, t.time
	if n := t.st.tree.find(c.path); n != nil {
		c.was = int32(len(n.data))
	}
	if t.st.cfg.quotas {
		t.noteUsage(c.path)
	}
	t.changes = append(t.changes, c)
	t.undo = append(t.undo, t.st.tree.apply(c))
}

func (t *txn) rollback() {
	for _, undo := range slices.Backward(t.undo) {
		undo()
	}
	t.changes, t.undo, t.beyond = nil, nil, nil
	t.commit()
}

// commit tells the servers, each of which tells its watchers. What failed is
// told as well, without changes, because it has used up a zxid.
func (t *txn) commit() {
	st := t.st
	if st.cfg.commitTime > 0 {
		maps.Copy(st.beyond, t.beyond)
	}
	for _, c := range t.changes {
		if c.kind == changeDelete {
			parent, _ := split(c.path)
			if st.tree.containers[parent] != nil {
				st.reapLater()
			}
		}
		if c.nodeKind == kindTTL {
			st.reapLater()
		}
	}
	for _, s := range st.servers {
		s.learn(t)
	}
}

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

func (t *txn) delete(path string, version int32) code {
	if !strings.Contains(path, "/") || strings.Contains(path, "\x00") || reserved(path) {
		return codeBadArguments
	}
	tree := t.st.tree
	parent := tree.find(path[:strings.LastIndexByte(path, '/')])
	if parent == nil {
		return codeNoNode
	}
	if !allowed(parent.acl, permDelete, t.who) {
		return codeNoAuth
	}
	n := tree.find(path)
	switch {
	case n == nil:
		return codeNoNode
	case version != -1 && version != n.version:
		return codeBadVersion
	case len(n.children) > 0:
		return codeNotEmpty
	}
	t.drop(path)
	return 0
}

// deleteContainer is what a real server orders of itself, and executes for
// clients as well: it needs no permission, and takes plain nodes, too.
func (t *txn) deleteContainer(path string) code {
	if !strings.Contains(path, "/") || strings.Contains(path, "\x00") || reserved(path) {
		return codeBadArguments
	}
	n := t.st.tree.find(path)
	switch {
	case n == nil:
		return codeNoNode
	case len(n.children) > 0:
		return codeNotEmpty
	case n.kind == kindEphemeral:
		return codeBadVersion
	}
	t.drop(path)
	return 0
}

// drop deletes without asking: for the server's own purposes.
func (t *txn) drop(path string) {
	parentPath, _ := split(path)
	t.apply(change{
		kind: changeDelete, path: path,
		acl: t.st.tree.nodes[path].acl, parentACL: t.st.tree.nodes[parentPath].acl,
	})
}

func (t *txn) setData(path string, data []byte, version int32) (Stat, code) {
	n, err := t.change(path, permWrite)
	if err == 0 {
		err = t.withinQuota(path, int64(len(data)-len(n.data)), 0)
	}
	if err != 0 {
		return Stat{}, err
	}
	if version != -1 && version != n.version {
		return Stat{}, codeBadVersion
	}
	t.apply(change{kind: changeData, path: path, data: data, acl: n.acl})
	return n.stat(), 0
}

func (t *txn) setACL(path string, list []aclEntry, version int32) (Stat, code) {
	if !validPath(path) {
		return Stat{}, codeBadArguments
	}
	acl, err := fixACL(list, t.who)
	if err != 0 {
		return Stat{}, err
	}
	n, err := t.change(path, permAdmin)
	if err != 0 {
		return Stat{}, err
	}
	if version != -1 && version != n.aversion {
		return Stat{}, codeBadVersion
	}
	t.apply(change{kind: changeACL, path: path, acl: acl})
	return n.stat(), 0
}

func (t *txn) check(path string, version int32) code {
	n, err := t.change(path, permRead)
	if err == 0 && version != -1 && version != n.version {
		return codeBadVersion
	}
	return err
}

// change finds a node that exists and that the session may use for perms.
func (t *txn) change(path string, perms int32) (*node, code) {
	if !validPath(path) {
		return nil, codeBadArguments
	}
	n := t.st.tree.find(path)
	if n == nil {
		return nil, codeNoNode
	}
	if !allowed(n.acl, perms, t.who) {
		return nil, codeNoAuth
	}
	return n, 0
}
