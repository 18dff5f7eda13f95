package transport

import "time"

// A server grants a session at most its own maxSessionTimeout, and the ensemble goes by what was granted in the newest
// handshake that it executed, answered or not. A client that goes by an older grant may hold a lock beside another:
//
//	A holds a lock; its session was granted 40 s
//	A reconnects; a server that grants 10 s executes the handshake, and its answer is lost
//	A is cut off from all servers
//	10 s later the servers end A's session and let B in
//	up to 40 s after its last renewal A goes on holding the lock
//
// A cannot end its leases because a handshake is unanswered: leases outlast outages. So it leaves servers nothing to
// shorten. A session goes by the smallest timeout that it was granted, and asks for that. A new session asks for no
// more than any server has granted before. What remains is S8 of recipes/internal/queue.
//
// A server may grant more than it was asked for. The session goes by that, and so asks for it: another server might
// grant exactly what it is asked for. The next session asks for what is configured again.

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

// grant notes what a server has granted, and returns the timeout that the session goes by.
func (t *Transport) grant(timeout time.Duration) time.Duration {
	t.cfg.Support.granted(timeout)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.granted = smaller(t.granted, timeout)
	return t.granted
}

// ask returns the session timeout that a new session asks for in place of timeout.
func (s *Support) ask(timeout time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return smaller(s.leastGrant, timeout)
}

func (s *Support) granted(timeout time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leastGrant = smaller(s.leastGrant, timeout)
}

// smaller is the smaller of a grant, if there was one, and a timeout.
func smaller(grant, timeout time.Duration) time.Duration {
	if grant > 0 {
		return min(grant, timeout)
	}
	return timeout
}
