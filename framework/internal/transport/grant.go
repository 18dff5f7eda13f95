package transport

import "time"

// A server grants a session at most its own maxSessionTimeout. From then on the ensemble goes by what was granted in
// the newest handshake that it executed, whether or not the answer arrived. A client that still goes by an older grant
// may hold a lock beside another client:
//
//	A holds a lock; its session was granted 40 s
//	A reconnects; a server that grants 10 s executes the handshake, and its answer is lost
//	A is cut off from all servers
//	10 s later the servers end A's session and let B in
//	up to 40 s after its last renewal A goes on holding the lock
//
// A cannot end its leases because a handshake is unanswered: leases outlast outages. So it leaves servers nothing to
// shorten. Once a server has granted less than A asked for, A asks for no more than that, at any server and in any
// session. Within a session A asks for the timeout that it goes by, the smallest that the session was granted. A server
// that grants what it is asked for thus gives the session the timeout that A goes by. What remains is S8 of
// recipes/internal/queue: a server that grants less than all before it, and whose answer is lost.
//
// A server may grant more than it was asked for. A goes by that as long as the session lasts, and so has to ask for it,
// since another server might grant exactly what it is asked for. The next session asks for what is configured again.

// ask returns the session timeout to ask for.
func (t *Transport) ask() time.Duration {
	t.mu.Lock()
	granted := t.granted
	t.mu.Unlock()
	if granted > 0 {
		return granted
	}
	return t.cfg.Support.ask(t.cfg.SessionTimeout)
}

// grant notes what a server has granted the session, and returns the timeout that the session goes by.
func (t *Transport) grant(timeout time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.granted == 0 || timeout < t.granted {
		t.granted = timeout
	}
	return t.granted
}

// ask returns the session timeout that a new session asks for in place of timeout.
func (s *Support) ask(timeout time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leastGrant > 0 {
		return min(timeout, s.leastGrant)
	}
	return timeout
}

// granted notes the session timeout that a server has granted.
func (s *Support) granted(timeout time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leastGrant == 0 || timeout < s.leastGrant {
		s.leastGrant = timeout
	}
}
