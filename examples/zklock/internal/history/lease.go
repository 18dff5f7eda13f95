package history

import "github.com/gocurator/curator/framework/zktest/txnlog"

// A rank is how many leases there were up to a lease, itself included, since a moment.
type rank struct {
	count   int
	since   txnlog.Moment
	earlier bool // since before the logs begin
}

// take makes a lease and a place at the gate one contender.
func (one *contender) take(gate *contender) {
	one.gate, one.gated, one.Queued = gate, true, gate.Queued
	gate.leased = true
}

// enterLease takes in a lease, which is the last. It counts when there are no more than the limit, which servers do not
// know. So its ranks are noted until it is known that it counts.
func (l *line) enterLease(one *contender, now txnlog.Moment, begun bool) {
	one.ranks = []rank{{count: len(l.queue), since: now}}
	if begun && !one.gated { // no client does this: there is no telling when it counts
		one.passed = true
	}
}

// leaveLease takes out a lease. Those behind it move up.
func (l *line) leaveLease(one *contender, now txnlog.Moment) {
	l.queue = remove(l.queue, one)
	for i := len(l.queue) - 1; i >= 0 && !l.queue[i].passed && order(l.queue[i], one) > 0; i-- {
		l.queue[i].ranks = append(l.queue[i].ranks, rank{count: i + 1, since: now})
	}
}

// pass notes that what the client at the gate has counts.
func (l *line) pass(gate *contender) {
	for i := len(l.queue) - 1; i >= 0 && !l.queue[i].passed; i-- {
		if one := l.queue[i]; one.gate == gate {
			one.passed = true
			l.most = max(l.most, one.ranks[len(one.ranks)-1].count)
		}
	}
}

// beginLease is for a lease that is older than the logs, the i-th. It counts if its client is not at the gate any more.
func (l *line) beginLease(one *contender, i int) {
	one.ranks = []rank{{count: i + 1, since: one.Queued, earlier: true}}
	if !one.gated {
		one.passed = true
		l.most = max(l.most, i+1)
	}
}

// settle finds out when a lease was let in, under a limit that is at least 1.
func (one *contender) settle(limit int) {
	if one.line.family != leases {
		return
	}
	for _, r := range one.ranks {
		counts := r.count <= max(limit, 1) || !one.gated
		atItsEnd := !r.earlier && r.since.Zxid == one.Ended.Zxid // its session ends, and had the one ahead, too
		if counts && !atItsEnd {
			one.LetIn, one.LetInEarlier = r.since, r.earlier
			break
		}
	}
	if one.How == GaveUp && one.In() {
		one.How = Released
	}
}

// neverLeased is for a place at the gate that has not become a lease.
func (one *contender) neverLeased() {
	one.LetIn, one.LetInEarlier = txnlog.Moment{}, false
	if one.How == Released {
		one.How = GaveUp
	}
}
