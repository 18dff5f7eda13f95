package zktest

import (
	"bytes"
	"errors"
	"time"
)

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
	if errors.Is(err, errFrameSize) {
		return c.refuse("no handshake, but a frame of impossible length")
	}
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
		return nil, c.refuse("half a handshake")
	}
	withFlag := len(d.b) > 0
	readOnly := withFlag && d.bool()
	s := c.srv
	s.mu.Lock()
	defer s.unlock()
	switch {
	case c.closed:
		return nil, false
	case s.away:
		c.blame("the server has lost its leader")
		return nil, false
	case s.readOnly && !readOnly:
		c.blame("the server is read-only, and the client not content with that")
		return nil, false
	case lastZxid > s.applied():
		c.blame("the client has seen a later history: it must go elsewhere")
		return nil, false
	}
	if wait := c.blocked(OpCloseSession); wait != nil { // as any request that the leader has to see
		return wait, false
	}
	sess := s.attach(c, id, password, s.clamp(time.Duration(timeout)*time.Millisecond))
	c.welcome(sess, id == 0, withFlag)
	if sess == nil {
		c.drop(closeAfterReplies, "the session is over, or its password wrong")
	}
	return nil, sess != nil
}

// attach finds or makes the session. Another connection that it has to this
// server is closed first, even if the password then turns out to be wrong; one
// to another server is closed when the leader next sees a request from it.
func (s *Server) attach(c *conn, id int64, password []byte, timeout time.Duration) *session {
	var sess *session
	if id == 0 || s.cfg.keeper {
		sess = s.newSession(timeout)
	} else {
		if old := s.attached[id]; old != nil {
			old.drop(closeNow, "the session came on another connection")
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
	return min(max(timeout, s.least), s.most)
}
