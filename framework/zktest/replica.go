package zktest

import (
	"time"
)

// replica is what makes a server a follower: it applies the leader's transactions later, and reports to the leader only
// now and then which sessions it has heard from. The leader's own has no content.
type replica struct {
	zxid    int64
	lag     time.Duration
	queue   []commit
	heard   map[*session]struct{}
	caught  chan struct{} // made by who waits for the queue, closed when it moves
	cutOff  chan struct{} // closed when the leader can be reached again; nil: it can
	leaveAt time.Duration // when a follower that is cut off gives up; 0: not cut off
}

// commit is a transaction under way to a follower, with the answers that its
// clients get when it has arrived.
type commit struct {
	due     time.Duration
	zxid    int64
	changes []change
	ended   int64
	endedBy *conn
	answers []reply
}

type reply struct {
	to    *conn
	frame []byte
	due   time.Time
}

// learn gets every transaction: the leader, and a follower that does
// not lag, apply it on the spot.
func (s *Server) learn(t *txn) {
	c := commit{zxid: t.zxid, changes: t.changes, ended: t.ended, endedBy: t.endedBy}
	r := &s.replica
	if s == s.leader || r.lag == 0 && r.cutOff == nil && len(r.queue) == 0 {
		s.applyCommit(c)
		return
	}
	s.enqueue(c)
}

// enqueue keeps the leader's order, also when the lag has been shortened.
func (s *Server) enqueue(c commit) {
	r := &s.replica
	c.due = s.elapsed() + r.lag
	if k := len(r.queue); k > 0 {
		c.due = max(c.due, r.queue[k-1].due)
	}
	r.queue = append(r.queue, c)
	s.schedule()
}

func (s *Server) applyCommit(c commit) {
	for _, change := range c.changes {
		if s != s.leader {
			s.view.apply(change)
		}
		s.fire(change)
	}
	s.replica.zxid = max(s.replica.zxid, c.zxid)
	if old := s.attached[c.ended]; old != nil && old != c.endedBy {
		old.drop(closeNow, "the session is over")
	}
	for _, a := range c.answers {
		a.to.pending--
		a.to.sendAt(a.frame, a.due)
	}
}

// applied is the zxid up to which this server's clients can read.
func (s *Server) applied() int64 {
	if s == s.leader {
		return s.zxid
	}
	return s.replica.zxid
}

// crossesLeader reports whether a follower has to ask the leader.
func crossesLeader(op Op) bool {
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpDeleteContainer, OpSetData, OpSetACL, OpMulti, OpSync, OpReconfig, OpCloseSession:
		return true
	}
	return false
}

// answer sends a frame, behind the transaction that it is about if this
// server has not applied that yet.
func (c *conn) answer(op Op, frame []byte, due time.Time) {
	s := c.srv
	c.answered = s.elapsed()
	if s == s.leader || !crossesLeader(op) {
		c.sendAt(frame, due)
		return
	}
	r := &s.replica
	if op == OpSync && r.lag > 0 {
		s.enqueue(commit{zxid: s.zxid})
	}
	if len(r.queue) == 0 {
		c.sendAt(frame, due)
		return
	}
	last := &r.queue[len(r.queue)-1]
	last.answers = append(last.answers, reply{c, append([]byte(nil), frame...), due})
	c.pending++
}

// blocked returns what a request has to wait for; nil: nothing. Behind a
// write that is not yet answered everything of that connection waits, pings
// too, except what goes to the leader as well.
func (c *conn) blocked(op Op) <-chan struct{} {
	s := c.srv
	if gate := s.gate.Load(); gate != nil {
		return *gate
	}
	if s == s.leader {
		return nil
	}
	r := &s.replica
	if !crossesLeader(op) {
		if c.pending == 0 {
			return nil
		}
		if r.caught == nil {
			r.caught = make(chan struct{})
		}
		return r.caught
	}
	if r.cutOff != nil {
		return r.cutOff
	}
	if gate := s.leader.gate.Load(); gate != nil {
		return *gate
	}
	return nil
}

// refused returns the effect of a request that is turned away before anybody
// looks at its contents.
func (c *conn) refused(op Op) effect {
	s := c.srv
	switch {
	case s.readOnly && crossesLeader(op) && op != OpCloseSession:
		return effect{err: codeNotReadOnly}
	case crossesLeader(op) && s.sessions[c.sess.id] != c.sess:
		return effect{err: codeSessionExpired}
	case c.sess.conn != c && c.movedAway(op):
		if crossesLeader(op) && op != OpSync {
			c.begin(nil).fail() // the failure is a transaction, too
		}
		return effect{silent: true, close: true}
	}
	return effect{}
}

// movedAway reports whether op is refused if its session is by now connected
// to another server. The leader looks at everything but the end of a session;
// a follower passes only changes on.
func (c *conn) movedAway(op Op) bool {
	if c.srv == c.srv.leader {
		return op != OpCloseSession
	}
	return crossesLeader(op) && op != OpSync && op != OpCloseSession
}

// heardFrom renews a session: at the leader at once, at a follower when the
// leader next asks, which it does twice a tick.
func (s *Server) heardFrom(sess *session) {
	if s == s.leader {
		if s.sessions[sess.id] == sess {
			s.touch(sess)
		}
		return
	}
	if s.replica.heard == nil {
		s.replica.heard = make(map[*session]struct{})
	}
	s.replica.heard[sess] = struct{}{}
	s.relayLater()
}

func (st *store) relayLater() {
	if st.relayAt == 0 {
		half := max(st.cfg.tick/2, 1)
		st.relayAt = boundary(st.elapsed(), half)
		st.schedule()
	}
}

func (st *store) relayDue(now time.Duration) {
	if st.relayAt == 0 || st.relayAt > now {
		return
	}
	st.relayAt = 0
	for _, s := range st.servers {
		if s.replica.cutOff != nil {
			continue // it reports when it can be reached again
		}
		for sess := range s.replica.heard {
			if st.sessions[sess.id] == sess {
				st.touch(sess)
			}
		}
		clear(s.replica.heard)
	}
}

// nextTask returns when the follower has something to do; 0: never.
func (s *Server) nextTask() time.Duration {
	r := &s.replica
	if r.cutOff != nil {
		return r.leaveAt
	}
	if len(r.queue) > 0 {
		return r.queue[0].due
	}
	return 0
}

// follow applies what has arrived, or gives up after too long alone.
func (s *Server) follow(now time.Duration) {
	r := &s.replica
	if r.cutOff != nil {
		if r.leaveAt > 0 && r.leaveAt <= now {
			r.leaveAt = 0
			s.away = true
			for _, c := range s.sortedConns() {
				c.drop(closeNow, "the server has lost its leader")
			}
		}
		return
	}
	moved := false
	for len(r.queue) > 0 && r.queue[0].due <= now {
		c := r.queue[0]
		r.queue[0] = commit{}
		r.queue = r.queue[1:]
		s.applyCommit(c)
		moved = true
	}
	if moved && r.caught != nil {
		close(r.caught)
		r.caught = nil
	}
}
