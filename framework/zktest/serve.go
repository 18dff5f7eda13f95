package zktest

import (
	"strconv"
)

// effect is what a request's answer does to its connection.
type effect struct {
	err    code
	close  bool  // close behind the answer
	zxid   int64 // instead of the last applied one; 0: no such
	silent bool  // no answer at all
}

// pingXid is the xid of every answer to a ping, whatever the ping's own.
const pingXid = -2

// serve executes one request. It returns false when the connection has ended.
func (c *conn) serve(frame []byte) bool {
	d := decoder{b: frame}
	xid, op := d.int32(), Op(d.int32())
	if d.bad {
		return c.refuse("half a request header")
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
		return c.refuse("DropRequest")
	}
	for _, stall := range p.stalls {
		if !c.wait(stall) {
			c.executeStalled(xid, op, d, &p, stall)
			return false
		}
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

// executeStalled executes a write of a connection that has ended, once the
// thread that has read it goes on, unless its session is over by then.
func (c *conn) executeStalled(xid int32, op Op, d decoder, p *plan, stall <-chan struct{}) {
	s := c.srv
	select {
	case <-stall:
	case <-s.down:
		return
	}
	s.mu.Lock()
	defer s.unlock()
	now := c.sess.conn
	if s.closed || s.sessions[c.sess.id] != c.sess || now != nil && now.srv != s {
		return
	}
	s.counted(op, p)
	c.xid = xid
	s.reply.openReply()
	c.dispatch(op, &d, &s.reply)
}

// takeTurn observes and executes a request while no other connection does. If it has to wait for something first, it
// returns that.
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

// answeredZxid is the zxid in an answer, given the request's own and the newest before it.
func (c *conn) answeredZxid(op Op, own, before int64) int64 {
	switch {
	case op == OpSetAuth, op == OpSASL:
		return 0
	case own != 0:
		return own
	case c.srv.zxid > before:
		return c.srv.zxid
	}
	return c.srv.applied()
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
	s.counted(op, p)
	s.received++
	c.received++
	c.xid = xid
	s.heardFrom(c.sess)
	s.reply.openReply()
	before := s.zxid
	e := c.refused(op)
	switch {
	case c.unproven(op):
		e = effect{err: codeSASLRequired, close: true}
	case p.throttle:
		e = effect{err: codeThrottled}
	case e == (effect{}):
		e = c.dispatch(op, &d, &s.reply)
	}
	if e.err != 0 && op != OpMultiRead {
		s.reply.dropBody()
	}
	e.zxid = c.answeredZxid(op, e.zxid, before)
	if op == OpPing {
		xid = pingXid
	}
	if !p.dropReply && !p.swallow && !e.silent {
		c.answer(op, s.reply.sealReply(xid, e.zxid, e.err), p.due())
	}
	c.reportBehind()
	switch {
	case p.dropReply:
		c.blame("DropReply")
	case e.close:
		c.blame(e.reason(op))
	}
	return nil, !e.close && !p.dropReply
}

// reason says why an effect closes its connection.
func (e effect) reason(op Op) string {
	switch {
	case e.err == codeUnimplemented:
		return "unknown request " + strconv.Itoa(int(op))
	case e.err != 0:
		return e.err.text()
	case op == OpSetAuth:
		return "half a setAuth"
	case op == OpCloseSession:
		return "" // as the client wanted it
	}
	return "the session has moved to another server"
}

// dispatch executes one request and appends the body of its answer to out.
func (c *conn) dispatch(op Op, d *decoder, out *encoder) effect {
	if !c.srv.cfg.knows(op) {
		return effect{err: codeUnimplemented, zxid: -1, close: true, silent: c.srv.cfg.keeper}
	}
	switch op {
	case OpPing:
		return effect{}
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpDeleteContainer, OpSetData, OpSetACL:
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
		return c.sasl(d, out)
	case OpReconfig:
		if _, _, _, _ = d.string(), d.string(), d.string(), d.int64(); d.bad {
			return effect{err: codeMarshalling}
		}
		c.begin(nil).fail()
		return effect{err: codeReconfigDisabled}
	}
	return effect{err: c.read(op, d, out)}
}
