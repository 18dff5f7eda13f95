package zktest

import (
	"slices"
	"sync"
	"time"
)

// DropReply lets one matching request be executed, drops its answer and
// closes its connection: the client cannot know whether it happened.
func (s *Server) DropReply(m Match) { s.addRule(&rule{match: m, dropReply: true}) }

// SwallowReply lets one matching request be executed and never answers it. The
// connection stays, and all other requests on it are answered, pings too: a
// server that has lost an answer.
func (s *Server) SwallowReply(m Match) { s.addRule(&rule{match: m, swallow: true}) }

// DropRequest drops one matching request unexecuted and closes its connection.
func (s *Server) DropRequest(m Match) { s.addRule(&rule{match: m, dropRequest: true}) }

// ThrottleRequest refuses one matching request, unexecuted, as an overloaded server
// does (THROTTLEDOP, since 3.6). The connection stays.
func (s *Server) ThrottleRequest(m Match) { s.addRule(&rule{match: m, throttle: true}) }

// DelayReply executes one matching request at once, but lets its answer, and
// so all that follows on that connection, leave d later.
func (s *Server) DelayReply(m Match, d time.Duration) { s.addRule(&rule{match: m, delay: d}) }

// HoldRequest makes one matching request wait, unexecuted, and with it all later
// ones of that connection, until release is called. If the session ends or
// comes back on another connection first, the request is never executed; if
// the connection merely breaks, the server does not notice before the release
// and executes the request then, as one that had arrived. Calling release again
// does nothing.
func (s *Server) HoldRequest(m Match) (release func()) {
	gate := make(chan struct{})
	s.addRule(&rule{match: m, hold: gate})
	return s.opener(gate)
}

// Stall stops the server's thread that has read one matching write and has not
// queued it yet, until release is called. Unlike a request that HoldRequest keeps, the
// write is then executed even if its connection has ended and its session has
// come back on another one to this server, as long as the session lives: a real
// server checks which of the servers a session is connected to, and not by which
// connection. Such a write waits for no Freeze, and no Observe hears of it.
// An answer leaves only if the connection still stands. Calling release again
// does nothing, and Close releases what is stalled.
func (s *Server) Stall(m Match) (release func()) {
	gate := make(chan struct{})
	s.addRule(&rule{match: m, stall: gate})
	return s.opener(gate)
}

// opener returns a function that lets what waits at a gate go on.
func (s *Server) opener(gate chan struct{}) func() {
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.unlock()
		close(gate)
	})
}

// DropEvent drops one matching event, by the path that it names and the session
// that it is for, whether the watch is on the node or on a tree with it. A watch
// that fires once is spent nevertheless. n calls drop the next n events.
func (s *Server) DropEvent(m Match) {
	s.mu.Lock()
	defer s.unlock()
	s.lostEvents = append(s.lostEvents, &rule{match: m})
}

// DropEvents drops all matching events until stop is called. Nth has no meaning
// here, and DropEvent does not count these events. Calling stop again does nothing.
func (s *Server) DropEvents(m Match) (stop func()) {
	lost := &rule{match: m}
	s.mu.Lock()
	defer s.unlock()
	s.silenced = append(s.silenced, lost)
	return func() {
		s.mu.Lock()
		defer s.unlock()
		s.silenced = slices.DeleteFunc(s.silenced, func(r *rule) bool { return r == lost })
	}
}

// Observe calls fn for each client request right before it is executed, in
// the order of execution, until stop is called. Requests wait for fn, which
// may look at the server or do something to it but must not wait for one of
// its clients, nor close it.
func (s *Server) Observe(fn func(Request)) (stop func()) {
	o := &observer{fn}
	s.mu.Lock()
	defer s.unlock()
	s.observers = append(s.observers, o)
	s.rehook()
	return func() {
		s.mu.Lock()
		defer s.unlock()
		s.observers = slices.DeleteFunc(slices.Clone(s.observers), func(x *observer) bool { return x == o })
		s.rehook()
	}
}

// Freeze stops the server like a SIGSTOP: it reads nothing and answers
// nothing, though connections can still be made. Session clocks stand still as
// well, unless it is a follower of an ensemble. When Freeze returns, no further request is executed.
func (s *Server) Freeze() {
	s.mu.Lock()
	defer s.unlock()
	if s.isFrozen() {
		return
	}
	gate := make(chan struct{})
	s.gate.Store(&gate)
	if s == s.leader {
		s.frozenAt = time.Now()
		s.schedule()
	}
}

// Unfreeze undoes Freeze: the server goes on where it stood.
func (s *Server) Unfreeze() {
	s.mu.Lock()
	defer s.unlock()
	if s.isFrozen() {
		s.unfreeze()
	}
}

func (s *Server) unfreeze() {
	close(*s.gate.Swap(nil))
	if s == s.leader {
		s.origin = s.origin.Add(time.Since(s.frozenAt))
		s.frozenAt = time.Time{}
		s.schedule()
	}
}

func (s *Server) isFrozen() bool { return s.gate.Load() != nil }

// passGate waits while the server is frozen; false: the connection is gone.
func (s *Server) passGate(c *conn) bool {
	for {
		gate := s.gate.Load()
		if gate == nil {
			return true
		}
		select {
		case <-*gate:
		case <-c.gone:
			return false
		}
	}
}

// RefuseConnections says whether new connections are refused. Present ones
// stay.
func (s *Server) RefuseConnections(refuse bool) {
	s.mu.Lock()
	defer s.unlock()
	s.refuse = refuse
}

// CutAll resets all present connections. Sessions live on.
func (s *Server) CutAll() {
	s.mu.Lock()
	defer s.unlock()
	for _, c := range s.sortedConns() {
		c.drop(closeReset, "CutAll")
	}
}

// CutSession resets the connection of one session, if it has one.
func (s *Server) CutSession(id int64) {
	s.mu.Lock()
	defer s.unlock()
	if sess := s.sessions[id]; sess != nil && sess.conn != nil {
		sess.conn.drop(closeReset, "CutSession")
	}
}

// ExpireSession ends a session as if it had been silent for too long: its
// ephemeral nodes go and its connection is closed.
func (s *Server) ExpireSession(id int64) {
	s.mu.Lock()
	defer s.unlock()
	if sess := s.sessions[id]; sess != nil {
		s.endSession(sess, nil)
	}
}

// SetCreateCounter makes n the next sequence number under path, as if so many
// children had been created there. It does nothing if path does not exist.
func (s *Server) SetCreateCounter(path string, n int32) {
	s.mu.Lock()
	defer s.unlock()
	if s.tree.find(path) != nil {
		t := s.begin(0, nil)
		t.apply(change{kind: changeCounter, path: path, counter: n})
		t.commit()
	}
}

// Restart cuts all connections, as a process that ends does; data and
// sessions stay, and every session gets its full timeout again.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.unlock()
	for _, c := range s.sortedConns() {
		c.drop(closeReset, "Restart")
	}
	for _, sess := range s.sessions {
		s.touch(sess)
	}
}

// SetSessionTimeouts changes this server's limits, given to all servers by WithSessionTimeouts, for the handshakes from
// now on. A session keeps its timeout until its next handshake, and has the new one even if the answer is lost.
func (s *Server) SetSessionTimeouts(least, most time.Duration) {
	checkSessionTimeouts(least, most)
	s.mu.Lock()
	defer s.unlock()
	s.least, s.most = least, most
}

// SetReadOnly makes the server one that is cut off from a majority but allowed
// to go on read-only, or ends that; either way all connections are cut. Only
// clients that ask for it get a session then, and modifications fail.
func (s *Server) SetReadOnly(readOnly bool) {
	s.mu.Lock()
	defer s.unlock()
	s.readOnly = readOnly
	for _, c := range s.sortedConns() {
		c.drop(closeReset, "SetReadOnly")
	}
}
