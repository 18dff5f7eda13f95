package session

import (
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A server may lose an event: of a node that the client may not read when it changes (since 3.8.4 and 3.9.2), or all of
// them, when 3.9's restore replaces the data under live connections. So nothing waits for an event alone. A node that
// is watched is read again when its newest subscriber has waited for a session timeout, and then whenever that wait
// has doubled, at least every 64 session timeouts: a lost event costs time, and a watch few reads.

// ReadAgain reads a watched node and sets the server's watch again, in case that has lost an event. It does not block:
// View tells what was read before, still Armed, until the answer, which calls wake. It does nothing while a request is
// under way, before a deferred watch is set, and without a connection.
func (s *Session) ReadAgain(w *Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	watch := w.watch
	if _, there := watch.subscribers[w]; !there || watch.requests == 0 || watch.awaitsAnswer() || !s.online {
		return
	}
	s.send(s.armAgain(watch))
}

// longestBelief bounds the time between two reads, in session timeouts: a standby of months must not lose months.
const longestBelief = 64

// readDue is when a watched node is to be read again. Its newest subscriber came at since; read was the last time.
func readDue(since, read time.Time, timeout time.Duration) time.Time {
	return read.Add(min(max(timeout, read.Sub(since)), longestBelief*timeout))
}

// waitsFor notes a new subscriber. mu is held.
func (s *Session) waitsFor(w *serverWatch) {
	w.since = time.Now()
	if due := w.since.Add(s.leases.timeout); s.readsAt.IsZero() || due.Before(s.readsAt) {
		s.readsAt = due
	}
}

// readLate reads the nodes that are due, and returns how long to wait before the next look. It looks at the watches at
// most sixteen times in a session timeout. mu is held.
func (s *Session) readLate() (wait time.Duration) {
	now := time.Now()
	if !s.online || len(s.watches) == 0 {
		return time.Hour
	}
	if wait := s.readsAt.Sub(now); wait > 0 {
		return wait
	}
	wait = time.Hour
	var calls []*transport.Call
	for _, w := range s.watches {
		due := readDue(w.since, w.sent, s.leases.timeout).Sub(now)
		switch {
		case due > 0:
			wait = min(wait, due)
		case w.awaitsAnswer(), w.view.Status == StatusUnknown:
			// It is set later, and then no new subscriber says so.
			wait = min(wait, s.leases.timeout)
		case w.view.Status == StatusPresent, w.lasting():
			calls = append(calls, s.armAgain(w))
			wait = min(wait, s.leases.timeout)
		}
	}
	wait = max(wait, s.leases.timeout/16)
	s.readsAt = now.Add(wait)
	s.send(calls...)
	return wait
}

// armAgain makes the request of ReadAgain. mu is held.
func (s *Session) armAgain(w *serverWatch) *transport.Call {
	call := s.arm(w)
	w.again = w.requests
	return call
}

// readsAgain reports whether the request under way changes nothing: the watch is set, and the view holds.
func (w *serverWatch) readsAgain() bool { return w.awaitsAnswer() && w.again == w.requests }
