package watches

import "time"

// A server may lose an event: of a node that the client may not read when it changes (since 3.8.4 and 3.9.2), or all of
// them, when 3.9's restore replaces the data under live connections. So nothing waits for an event alone. A node that
// is watched is read again when its newest subscriber has waited for a session timeout, and then whenever that wait has
// doubled, at least every 64 session timeouts: a lost event costs time, and a watch few reads. A node whose watch was
// set without a read is read much sooner for the first time if a subscriber only concludes that the client may read it.

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

// looks bounds how often ReadLate looks at the watches in a session timeout. Each look reads at most mostLate nodes, or
// its share of all: many that are due together are read over a session timeout. Doubtful nodes do not count.
const (
	looks    = 16
	mostLate = 32
)

// patience is how long a watch is believed at first.
func (t *Table) patience(w *node) time.Duration {
	if w.unread() && w.doubtful {
		return t.timeout / looks
	}
	return t.timeout
}

// due is when a node is to be read again.
func (t *Table) due(w *node) time.Time {
	if w.unread() {
		return w.sent.Add(t.patience(w))
	}
	return readDue(w.since, w.sent, t.timeout)
}

// lookSoon has ReadLate look at a node in time.
func (t *Table) lookSoon(w *node, now time.Time) {
	if due := now.Add(t.patience(w)); t.readsAt.IsZero() || due.Before(t.readsAt) {
		t.readsAt = due
	}
}

// ReadLate reads the nodes that are due, and returns how long to wait before the next look.
func (t *Table) ReadLate(now time.Time) (wait time.Duration) {
	if !t.attached || len(t.nodes) == 0 {
		return time.Hour
	}
	if wait := t.readsAt.Sub(now); wait > 0 {
		return wait
	}
	wait = time.Hour
	room := max(mostLate, len(t.nodes)/looks+1)
	for _, w := range t.nodes {
		due, doubtful := t.due(w).Sub(now), w.unread() && w.doubtful
		switch {
		case !w.isLate():
		case due > 0:
			wait = min(wait, due)
		case w.pending(), w.view.Status == Unknown:
			// It is set later, and then no new subscriber says so.
			wait = min(wait, t.patience(w))
		case w.view.Status != Present && !w.persistent():
		case room == 0 && !doubtful:
			wait = 0
		default:
			if !doubtful {
				room--
			}
			t.check(w, now)
			wait = min(wait, t.timeout)
		}
	}
	wait = max(wait, t.timeout/looks)
	t.readsAt = now.Add(wait)
	return wait
}

// isLate reports whether ReadLate reads the node for a subscriber.
func (w *node) isLate() bool {
	return w.any(func(sub *Subscription) bool { return !sub.brief })
}

// endBrief ends the subscriptions that do not outlast the connection.
func (t *Table) endBrief(w *node) {
	for sub := range w.subscribers {
		if sub.brief {
			sub.over = true
			t.wakes = append(t.wakes, sub.wake)
			delete(w.subscribers, sub)
		}
	}
	if len(w.subscribers) == 0 {
		delete(t.nodes, w.key)
	}
}
