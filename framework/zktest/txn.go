package zktest

import (
	"maps"
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
	request int32 // the client's number of it; 0: no client asked
	failed  bool
	who     []identity
	changes []change
	undo    []func()
	usage   map[string][]byte // what quotas had used before this transaction
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

// begin begins a transaction of the store, for the request that is being executed.
func (c *conn) begin(who []identity) *txn {
	t := c.srv.begin(c.sess.id, who)
	t.request = c.xid
	return t
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
	t.fail()
}

// fail ends a transaction that has changed nothing.
func (t *txn) fail() {
	t.failed = true
	t.commit()
}

// commit hands the transaction to the servers, each of which fires its watches. A failed transaction is handed on as
// well, without changes, because it has used up a zxid.
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
	if len(st.txnObservers) > 0 {
		t.show()
	}
	for _, s := range st.servers {
		s.learn(t)
	}
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
	n := t.st.tree.nodes[path]
	t.apply(change{
		kind: changeDelete, path: path, owner: n.owner,
		acl: n.acl, parentACL: t.st.tree.nodes[parentPath].acl,
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
	acl, err := fixACL(list, t.who, t.st.cfg.sasl != nil)
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
