package zktest

import (
	"slices"
	"strings"
	"time"
)

// effect is what a request's answer does to its connection.
type effect struct {
	err    code
	close  bool  // close behind the answer
	zxid   int64 // instead of the last applied one; 0: no such
	silent bool  // no answer at all
}

// serve executes one request. It returns false when the connection has ended.
func (c *conn) serve(frame []byte) bool {
	d := decoder{b: frame}
	xid, op := d.int32(), Op(d.int32())
	if d.bad {
		return false
	}
	var p plan
	if c.srv.hooked.Load() {
		p = c.plan(xid, op, d.b)
	}
	for _, hold := range p.holds {
		if !c.wait(hold) {
			return false
		}
	}
	if p.dropRequest {
		return false
	}
	for {
		wait, ok := c.takeTurn(xid, op, d, &p)
		if wait == nil {
			return ok
		}
		if !c.wait(wait) {
			return false
		}
	}
}

// wait returns false if the connection ends before ready is closed.
func (c *conn) wait(ready <-chan struct{}) bool {
	select {
	case <-ready:
		return true
	case <-c.gone:
		return false
	}
}

// takeTurn observes and executes a request while nobody else does. If it has
// to wait for something else first, it returns that.
func (c *conn) takeTurn(xid int32, op Op, d decoder, p *plan) (wait <-chan struct{}, ok bool) {
	s := c.srv
	select {
	case s.turn <- struct{}{}:
	case <-c.gone:
		return nil, false
	}
	defer func() { <-s.turn }()
	if len(p.observers) > 0 {
		s.mu.Lock()
		wait = c.blocked(op)
		s.unlock()
		if wait != nil {
			return wait, true
		}
		for _, o := range p.observers {
			o.call(p.request)
		}
		p.observers = nil
	}
	return c.execute(xid, op, d, p)
}

// execute does the work, unless the request cannot be executed yet.
func (c *conn) execute(xid int32, op Op, d decoder, p *plan) (wait <-chan struct{}, ok bool) {
	s := c.srv
	s.mu.Lock()
	defer s.unlock()
	if c.closed {
		return nil, false
	}
	if wait := c.blocked(op); wait != nil {
		return wait, true
	}
	s.counts[op]++
	s.received++
	c.received++
	s.heardFrom(c.sess)
	s.reply.openReply()
	before := s.zxid
	e := c.refused(op)
	if e == (effect{}) {
		e = c.dispatch(op, &d, &s.reply)
	}
	if e.zxid == 0 {
		e.zxid = s.applied()
		if s.zxid > before {
			e.zxid = s.zxid
		}
	}
	if op == OpSetAuth || op == OpSASL {
		e.zxid = 0
	}
	if !p.dropReply && !e.silent {
		var due time.Time
		if p.delay > 0 {
			due = time.Now().Add(p.delay)
		}
		c.answer(op, s.reply.sealReply(xid, e.zxid, e.err), due)
	}
	return nil, !e.close && !p.dropReply
}

// dispatch executes one request and appends the body of its answer to out.
func (c *conn) dispatch(op Op, d *decoder, out *encoder) effect {
	if !c.srv.cfg.version.knows(op) {
		return effect{err: codeUnimplemented, zxid: -1, close: true}
	}
	switch op {
	case OpPing:
		return effect{}
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpSetData, OpSetACL:
		return effect{err: c.write(op, d, out)}
	case OpMulti:
		return effect{err: c.multi(d, out)}
	case OpMultiRead:
		return effect{err: c.multiRead(d, out)}
	case OpSetAuth:
		return c.setAuth(d)
	case OpSetWatches, OpSetWatches2:
		return effect{err: c.setWatches(d, op == OpSetWatches2)}
	case OpCheckWatches, OpRemoveWatches:
		return effect{err: c.findWatches(d, op == OpRemoveWatches)}
	case OpCloseSession:
		c.srv.endSession(c.sess, c)
		return effect{close: true}
	case OpWhoAmI:
		c.whoAmI(out)
		return effect{}
	case OpSASL:
		out.bytes(nil)
		return effect{}
	case OpReconfig:
		if _, _, _, _ = d.string(), d.string(), d.string(), d.int64(); d.bad {
			return effect{err: codeMarshalling}
		}
		c.srv.begin(c.sess.id, nil).commit()
		return effect{err: codeReconfigDisabled}
	}
	return effect{err: c.read(op, d, out)}
}

// write executes a single modification.
func (c *conn) write(op Op, d *decoder, out *encoder) code {
	w := readWrite(op, d)
	if d.bad {
		if c.srv.cfg.version.before(3, 9, 0) {
			c.srv.begin(c.sess.id, nil).commit()
		}
		return codeMarshalling
	}
	t := c.srv.begin(c.sess.id, c.auth)
	r := t.step(w)
	t.commit()
	if r.err != 0 {
		return r.err
	}
	switch op {
	case OpCreate:
		out.string(r.path)
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		out.string(r.path)
		out.stat(r.stat)
	case OpSetData, OpSetACL:
		out.stat(r.stat)
	}
	return 0
}

// writeOp is a decoded modification, alone or in a multi.
type writeOp struct {
	op      Op
	node    newNode // path, data and acl also serve the other kinds
	version int32
}

type writeResult struct {
	path string
	stat Stat
	err  code
}

func readWrite(op Op, d *decoder) writeOp {
	w := writeOp{op: op}
	w.node.path = d.path()
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		w.node.data = slices.Clone(d.bytes())
		w.node.acl = d.acl()
		w.node.flags = d.int32()
		if op == OpCreateTTL {
			w.node.ttl = d.int64()
		}
	case OpDelete, OpCheck:
		w.version = d.int32()
	case OpSetData:
		w.node.data = slices.Clone(d.bytes())
		w.version = d.int32()
	case OpSetACL:
		w.node.acl = d.acl()
		w.version = d.int32()
	default:
		d.bad = true
	}
	return w
}

// step performs one modification within the transaction.
func (t *txn) step(w writeOp) (r writeResult) {
	switch w.op {
	case OpDelete:
		r.err = t.delete(w.node.path, w.version)
	case OpCheck:
		r.err = t.check(w.node.path, w.version)
	case OpSetData:
		r.stat, r.err = t.setData(w.node.path, w.node.data, w.version)
	case OpSetACL:
		r.stat, r.err = t.setACL(w.node.path, w.node.acl, w.version)
	default:
		if r.path, r.err = t.create(w.op, w.node); r.err == 0 {
			r.stat = t.st.tree.nodes[r.path].stat()
		}
	}
	return r
}

// read executes a request that begins with a path and changes no data.
func (c *conn) read(op Op, d *decoder, out *encoder) code {
	s := c.srv
	path := d.path()
	n := s.view.find(path)
	switch op {
	case OpSync:
		if d.bad {
			return codeMarshalling
		}
		out.string(path)
		return 0
	case OpExists:
		return c.exists(path, n, d, out)
	case OpGetData, OpGetChildren, OpGetChildren2:
		watch := d.bool()
		if d.bad {
			return codeMarshalling
		}
		return c.get(op, path, n, watch, out)
	case OpAddWatch:
		return c.addWatchOp(path, d, out)
	}
	if d.bad {
		return codeMarshalling
	}
	switch op {
	case OpGetACL:
		return c.getACL(n, out)
	case OpGetEphemerals:
		prefix := strings.TrimSpace(path)
		mine := s.view.ephemeralsOf(c.sess.id)
		if prefix != "" && prefix != "/" {
			mine = slices.DeleteFunc(mine, func(p string) bool { return !strings.HasPrefix(p, prefix) })
		}
		out.strings(mine)
	case OpGetAllChildrenNumber:
		if n == nil {
			return codeNoNode
		}
		if !allowed(n.acl, permRead, c.auth) {
			return codeNoAuth
		}
		total := s.view.descendants(path)
		if path == "" {
			total++ // the nameless root has the root below it
		}
		out.int32(total)
	}
	return 0
}

// exists leaves its watch on a missing node too.
func (c *conn) exists(path string, n *node, d *decoder, out *encoder) code {
	watch := d.bool()
	switch {
	case d.bad:
		return codeMarshalling
	case strings.Contains(path, "\x00"):
		return codeBadArguments
	case n != nil && c.srv.cfg.version.guarded() && !allowed(n.acl, permRead, c.auth):
		return codeNoAuth
	}
	if watch {
		c.srv.dataWatches.add(path, c, watchOnce)
	}
	if n == nil {
		return codeNoNode
	}
	out.stat(n.stat())
	return 0
}

func (c *conn) get(op Op, path string, n *node, watch bool, out *encoder) code {
	if n == nil {
		return codeNoNode
	}
	if !allowed(n.acl, permRead, c.auth) {
		return codeNoAuth
	}
	table := &c.srv.childWatches
	switch op {
	case OpGetData:
		table = &c.srv.dataWatches
		out.bytes(n.data)
		out.stat(n.stat())
	case OpGetChildren:
		out.strings(n.sortedChildren())
	case OpGetChildren2:
		out.strings(n.sortedChildren())
		out.stat(n.stat())
	}
	if watch {
		table.add(path, c, watchOnce)
	}
	return 0
}

func (c *conn) getACL(n *node, out *encoder) code {
	if n == nil {
		return codeNoNode
	}
	if !allowed(n.acl, permRead|permAdmin, c.auth) {
		return codeNoAuth
	}
	acl := n.acl
	if !allowed(acl, permAdmin, c.auth) {
		acl = maskACL(acl)
	}
	out.acl(acl)
	out.stat(n.stat())
	return 0
}

func (c *conn) addWatchOp(path string, d *decoder, out *encoder) code {
	mode := d.int32()
	switch {
	case d.bad || mode < 0 || mode > 1:
		return codeMarshalling
	case mode == 0:
		c.addWatch(path, watchPersistent)
	default:
		c.addWatch(path, watchRecursive)
	}
	out.int32(0)
	return 0
}

// setAuth answers with zxid 0; who fails is told and disconnected.
func (c *conn) setAuth(d *decoder) effect {
	_, scheme, auth := d.int32(), d.string(), d.bytes()
	if d.bad {
		return effect{silent: true, close: true}
	}
	ids, ok := c.srv.authenticate(scheme, auth, c.host)
	if !ok {
		return effect{err: codeAuthFailed, close: true}
	}
	for _, id := range ids {
		if !slices.Contains(c.auth, id) {
			c.auth = append(c.auth, id)
		}
	}
	return effect{}
}

// whoAmI never tells a password's digest.
func (c *conn) whoAmI(out *encoder) {
	out.int32(int32(len(c.auth)))
	for _, id := range c.auth {
		user := id.id
		if id.scheme == "digest" {
			user, _, _ = strings.Cut(user, ":")
		}
		out.string(id.scheme)
		out.string(user)
	}
}

// descendants counts the nodes below path.
func (t *tree) descendants(path string) int32 {
	n := t.find(path)
	total := int32(len(n.children))
	for name := range n.children {
		total += t.descendants(join(path, name))
	}
	return total
}

func join(parent, name string) string { return strings.TrimSuffix(parent, "/") + "/" + name }
