package zktest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// conn is one client connection. A reader executes the requests one after the other; a writer sends what they, and the
// watches, have queued, so that no goroutine waits for a slow client with a lock held.
type conn struct {
	srv    *Server
	nc     net.Conn
	number int
	host   string        // the client's, for its implicit "ip" identity
	gone   chan struct{} // closed when the connection is dropped at once
	left   chan struct{} // closed when the reader has ended

	// Guarded by the store's mutex.
	sess     *session
	auth     []identity
	nonce    string // the nonce of a SASL challenge that is not answered yet
	watched  map[string]struct{}
	received int           // requests
	answered time.Duration // when the last request was; 0: none
	xid      int32         // identifies the request that is being executed
	behind   []report      // events that go out behind its answer
	pending  int           // answers that wait for this server to catch up with the leader
	closed   bool          // no request is executed any more
	cut      bool          // gone is closed
	sentAll  bool          // the writer has ended
	reason   string        // why the server has closed it; "" if the client has

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

// blame notes why the server is about to close the connection; the store is
// locked.
func (c *conn) blame(reason string) {
	if c.reason == "" {
		c.reason = reason
	}
}

// refuse is blame without the lock, for a request or handshake that ends the
// connection.
func (c *conn) refuse(reason string) bool {
	c.srv.mu.Lock()
	defer c.srv.unlock()
	c.blame(reason)
	return false
}

// drop ends the connection; the store is locked. The session lives on.
func (c *conn) drop(how closeHow, reason string) {
	if !c.closed {
		c.blame(reason)
		c.closed = true
		c.srv.forgetWatches(c)
		delete(c.srv.open, c)
		if c.sess != nil {
			c.detach()
		}
	}
	if how == closeAfterReplies {
		if !c.sentAll {
			c.srv.ending[c] = struct{}{}
		}
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
	defer c.endWriting()
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

func (c *conn) endWriting() {
	select {
	case <-c.gone: // hangUp closes it: the writer must not be first, and turn a reset into an EOF
	default:
		c.nc.Close()
	}
	c.srv.mu.Lock()
	defer c.srv.unlock()
	c.sentAll = true
	delete(c.srv.ending, c)
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
			if errors.Is(err, errFrameSize) {
				c.refuse("a frame of impossible length")
			}
			if err != nil || !c.serve(frame) {
				break
			}
		}
	}
	c.leave()
}

func (c *conn) leave() {
	s := c.srv
	s.mu.Lock()
	if !c.closed {
		c.drop(closeAfterReplies, "")
	}
	reason, session := c.reason, c.id()
	s.unlock()
	if s.cfg.logger != nil && reason != "" {
		s.cfg.logger.Info("zktest: connection closed", "conn", c.number, "client", c.host, "session", fmt.Sprintf("0x%x", session), "reason", reason)
	}
	close(c.left)
}
