package zktest

import (
	"bufio"
	"bytes"
	"net"
	"sync"
	"time"
)

// conn is one client connection. A reader executes the requests one after
// the other; a writer sends what they, and the watches, have queued, so that
// nobody waits for a slow client with a lock held.
type conn struct {
	srv    *Server
	nc     net.Conn
	number int
	host   string        // of the client, for its implicit "ip" identity
	gone   chan struct{} // closed when the connection is dropped at once
	left   chan struct{} // closed when the reader has ended

	// Guarded by the store's mutex.
	sess     *session
	auth     []identity
	watched  map[string]struct{}
	received int  // requests
	pending  int  // answers that wait for this server to catch up with the leader
	closed   bool // no request is executed any more
	cut      bool // gone is closed

	outMu sync.Mutex
	out   []outgoing
	spare []byte
	ready chan struct{} // capacity 1: out has something new
}

// outgoing is a run of frames that may leave at the same time. last makes
// the writer close the connection behind it.
type outgoing struct {
	data []byte
	due  time.Time
	last bool
}

type closeHow int

const (
	closeAfterReplies closeHow = iota // what is queued still leaves
	closeNow                          // the peer reads what was sent, then EOF
	closeReset                        // the peer reads "connection reset"
)

// drop ends the connection; the store is locked. The session lives on.
func (c *conn) drop(how closeHow) {
	if !c.closed {
		c.closed = true
		c.srv.forgetWatches(c)
		delete(c.srv.open, c)
		if c.sess != nil {
			c.detach()
		}
	}
	if how == closeAfterReplies {
		c.push(outgoing{last: true})
		return
	}
	if c.cut {
		return
	}
	c.cut = true
	close(c.gone)
	c.srv.doomed = append(c.srv.doomed, func() { hangUp(c.nc, how) })
}

func (c *conn) detach() {
	if c.srv.attached[c.sess.id] == c {
		delete(c.srv.attached, c.sess.id)
	}
	if c.sess.conn == c {
		c.sess.conn = nil
	}
}

func hangUp(nc net.Conn, how closeHow) {
	if how == closeReset {
		switch nc := nc.(type) {
		case *pipeConn:
			nc.breakOff()
		case *net.TCPConn:
			_ = nc.SetLinger(0)
		}
	}
	_ = nc.Close()
}

// send queues a frame to leave at once, but behind all earlier ones.
func (c *conn) send(frame []byte) { c.sendAt(frame, time.Time{}) }

func (c *conn) sendAt(frame []byte, due time.Time) {
	c.srv.sent.Add(1)
	c.outMu.Lock()
	defer c.outMu.Unlock()
	if k := len(c.out) - 1; k >= 0 && !c.out[k].last && due.IsZero() {
		c.out[k].data = append(c.out[k].data, frame...)
		return
	}
	c.out = append(c.out, outgoing{data: append(c.spare[:0], frame...), due: due})
	c.spare = nil
	c.signal()
}

func (c *conn) push(o outgoing) {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	c.out = append(c.out, o)
	c.signal()
}

func (c *conn) signal() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// next returns the first run that may leave now, or when to look again.
func (c *conn) next(now time.Time) (o outgoing, ok bool, wait time.Time) {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	if len(c.out) == 0 {
		return o, false, wait
	}
	if o = c.out[0]; o.due.After(now) {
		return o, false, o.due
	}
	c.out[0] = outgoing{}
	if c.out = c.out[1:]; len(c.out) == 0 {
		c.out = nil
	}
	return o, true, wait
}

// recycle keeps a small buffer for the next frames; an idle connection does
// not hold on to a big one.
func (c *conn) recycle(b []byte) {
	if cap(b) <= keepFrame {
		c.outMu.Lock()
		c.spare = b
		c.outMu.Unlock()
	}
}

func (c *conn) writeLoop() {
	defer c.srv.routines.Done()
	defer c.nc.Close()
	for {
		if !c.srv.passGate(c) {
			return
		}
		o, ok, wait := c.next(time.Now())
		switch {
		case !ok:
			if !c.awaitOutput(wait) {
				return
			}
		case o.last:
			return
		default:
			if _, err := c.nc.Write(o.data); err != nil {
				return // the reader sees the closed connection and tidies up
			}
			c.recycle(o.data)
		}
	}
}

func (c *conn) awaitOutput(until time.Time) bool {
	var timer <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-c.ready:
	case <-timer:
	case <-c.gone:
		return false
	}
	return true
}

func (c *conn) readLoop() {
	defer c.srv.routines.Done()
	frames := frameReader{r: bufio.NewReaderSize(c.nc, 4096), max: c.srv.cfg.maxFrame}
	if c.greet(&frames) {
		for {
			frame, err := frames.next()
			if err != nil || !c.serve(frame) {
				break
			}
		}
	}
	c.srv.mu.Lock()
	defer c.srv.unlock()
	if !c.closed {
		c.drop(closeAfterReplies)
	}
	close(c.left)
}

// greet performs the handshake.
func (c *conn) greet(frames *frameReader) bool {
	head, err := frames.head()
	if err != nil {
		return false
	}
	if _, ok := words[string(head[:])]; ok {
		c.sayWord(string(head[:]))
		return false
	}
	frame, err := frames.body(head)
	if err != nil {
		return false
	}
	for {
		wait, ok := c.connect(&decoder{b: frame})
		if wait == nil {
			return ok
		}
		if !c.wait(wait) {
			return false
		}
	}
}

// connect answers the handshake, unless it has to wait for something first.
func (c *conn) connect(d *decoder) (wait <-chan struct{}, ok bool) {
	_, lastZxid, timeout, id, password := d.int32(), d.int64(), d.int32(), d.int64(), d.bytes()
	if d.bad {
		return nil, false
	}
	withFlag := len(d.b) > 0
	readOnly := withFlag && d.bool()
	s := c.srv
	s.mu.Lock()
	defer s.unlock()
	if c.closed || s.away || s.readOnly && !readOnly {
		return nil, false
	}
	if lastZxid > s.applied() {
		// The client has seen a later history than ours: it must go elsewhere.
		return nil, false
	}
	if wait := c.blocked(OpCloseSession); wait != nil { // as any request that the leader has to see
		return wait, false
	}
	sess := s.attach(c, id, password, s.clamp(time.Duration(timeout)*time.Millisecond))
	c.welcome(sess, id == 0, withFlag)
	if sess == nil {
		c.drop(closeAfterReplies)
	}
	return nil, sess != nil
}

// attach finds or makes the session. Another connection that it has to this
// server is closed first, even if the password then turns out to be wrong; one
// to another server finds out when it next needs the leader.
func (s *Server) attach(c *conn, id int64, password []byte, timeout time.Duration) *session {
	var sess *session
	if id == 0 {
		sess = s.newSession(timeout)
	} else {
		if old := s.attached[id]; old != nil {
			old.drop(closeNow)
		}
		sess = s.sessions[id]
		if sess == nil || !bytes.Equal(password, s.password(id)) {
			return nil
		}
		sess.timeout = timeout
		s.touch(sess)
	}
	c.sess, sess.conn = sess, c
	s.attached[sess.id] = c
	return sess
}

func (c *conn) welcome(sess *session, fresh, withFlag bool) {
	var e encoder
	n := int32(36)
	if withFlag {
		n++
	}
	e.int32(n)
	e.int32(0)
	if sess != nil {
		e.int32(int32(sess.timeout / time.Millisecond))
		e.int64(sess.id)
		e.bytes(c.srv.password(sess.id))
	} else {
		e.int32(0)
		e.int64(0)
		e.bytes(make([]byte, 16))
	}
	if withFlag {
		e.bool(c.srv.readOnly)
	}
	if fresh {
		c.answer(OpCloseSession, e.b, time.Time{}) // once this server knows of it
		return
	}
	c.send(e.b)
}

func (s *Server) clamp(timeout time.Duration) time.Duration {
	return min(max(timeout, s.cfg.minTimeout), s.cfg.maxTimeout)
}
