package watches

import "time"

// A server may lose an event: of a node that the client may not read when it changes (since 3.8.4 and 3.9.2), or all of
// them, when 3.9's restore replaces the data under live connections. So nothing waits for an event alone. A node that
// is watched is read again when its newest subscriber has waited for a session timeout, and then whenever that wait has
// doubled, at least every 64 session timeouts: a lost event costs time, and a watch few reads.

// ReadAgain reads a watched node and sets the server's watch again, in case that has lost an event. It does nothing
// while a request is under way, before a deferred watch is set, and without a connection.
func (t *Table) ReadAgain(sub *Subscription, now time.Time) {
	w := sub.node
	if _, subscribed := w.subscribers[sub]; subscribed && t.attached && w.phase == idle {
		t.check(w, now)
	}
}

// longestBelief bounds the time between two reads, in session timeouts: a standby of months must not lose months.
const longestBelief = 64

// readDue is when a watched node is to be read again. Its newest subscriber came at since; read was the last time.
func readDue(since, read time.Time, timeout time.Duration) time.Time {
	return read.Add(min(max(timeout, read.Sub(since)), longestBelief*timeout))
}

// ReadLate reads the nodes that are due, and returns how long to wait before the next look. It looks at the watches at
// most sixteen times in a session timeout.
func (t *Table) ReadLate(now time.Time) (wait time.Duration) {
	if !t.attached || len(t.nodes) == 0 {
		return time.Hour
	}
	if wait := t.readsAt.Sub(now); wait > 0 {
		return wait
	}
	wait = time.Hour
	for _, w := range t.nodes {
		due := readDue(w.since, w.sent, t.timeout).Sub(now)
		switch {
		case due > 0:
			wait = min(wait, due)
		case w.pending(), w.view.Status == Unknown:
			// It is set later, and then no new subscriber says so.
			wait = min(wait, t.timeout)
		case w.view.Status == Present, w.persistent():
			t.check(w, now)
			wait = min(wait, t.timeout)
		}
	}
	wait = max(wait, t.timeout/16)
	t.readsAt = now.Add(wait)
	return wait
}
