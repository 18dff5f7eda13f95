package history

import (
	"slices"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// A rank is how many leases there were up to a lease, itself included, since a moment.
type rank struct {
	count   int
	since   txnlog.Moment
	earlier bool // since before the logs begin
}

// A batch is the leases of one acquire. A client that takes several keeps its place at the gate until it has all, and
// takes back what it has if it gives up, before it leaves the gate.
type batch struct {
	gate    *contender // nil once its node has gone
	members []*contender
	passed  bool // its client has left the gate
	failed  bool // its client has taken back some before
}

// last is the newest lease of those that count, or may: all do when this one does. It is nil if there is none.
func (b *batch) last() *contender {
	for _, one := range slices.Backward(b.members) {
		if one.counts() {
			return one
		}
	}
	for _, one := range slices.Backward(b.members) {
		if !one.takenBack() {
			return one
		}
	}
	return nil
}

// takenBack reports whether a lease went before its client left the gate, which gave up. One that is older than the
// logs, and was within the limit then, may be of an earlier acquire of its client.
func (one *contender) takenBack() bool {
	return one.atGate && one.batch.failed && !one.ranks[0].earlier
}

// take makes a lease one of those of a place at the gate.
func (one *contender) take(gate *contender) {
	if gate.batch == nil {
		gate.batch = &batch{gate: gate}
	}
	one.batch, one.Queued = gate.batch, gate.Queued
	one.batch.members = append(one.batch.members, one)
	gate.leased = true
}

// enterLease takes in a lease, which is the last. It counts when there are no more than the limit, which servers do not
// know. So its ranks are noted until it is known that it counts.
func (l *line) enterLease(one *contender, now txnlog.Moment) {
	one.ranks = []rank{{count: len(l.queue), since: now}}
}

// leaveLease takes out a lease. Those behind it move up.
func (l *line) leaveLease(one *contender, now txnlog.Moment) {
	l.queue = remove(l.queue, one)
	for i := len(l.queue) - 1; i >= 0 && order(l.queue[i], one) > 0; i-- {
		if !l.queue[i].counts() {
			l.queue[i].ranks = append(l.queue[i].ranks, rank{count: i + 1, since: now})
		}
	}
	if one.batch != nil && one.batch.gate != nil {
		one.atGate = true
		one.batch.failed = one.batch.failed || one.How == GaveUp
	}
}

// counts reports whether a lease counts for sure.
func (one *contender) counts() bool {
	return one.older || one.batch != nil && one.batch.passed && !one.atGate
}

// pass notes that what the client at the gate has counts.
func (l *line) pass(gate *contender) {
	gate.batch.passed = true
	if last := gate.batch.last(); last != nil && last.counts() {
		l.most = max(l.most, last.ranks[len(last.ranks)-1].count)
	}
}

// beginLease is for a lease that is older than the logs, the i-th. It counts if its client is not at the gate any more.
func (l *line) beginLease(one *contender, i int) {
	one.ranks = []rank{{count: i + 1, since: one.Queued, earlier: true}}
	if one.batch == nil {
		one.older = true
		l.most = max(l.most, i+1)
	}
}

// settle finds out when a lease was let in, under a limit that is at least 1. The limit is known, or taken from the
// leases that count for sure.
func (one *contender) settle(limit int, known bool) {
	if one.line.family != Leases {
		return
	}
	if !one.takenBack() {
		one.letIn(max(limit, 1), known)
	}
	switch {
	case one.How != GaveUp:
	case one.In():
		one.How = Released
	case one.ranks[0].earlier: // the place at the gate may be of a later acquire of its client
		one.How = Unknown
	}
}

func (one *contender) letIn(limit int, known bool) {
	decides := one // whose rank decides
	if one.batch != nil {
		decides = one.batch.last()
	}
	r, ok := decides.within(limit, known)
	// Its session may have had the one ahead, too, and both go with it.
	ended := one.Ended != (txnlog.Moment{}) && r.since.Zxid >= one.Ended.Zxid
	switch {
	case !ok, !r.earlier && (ended || one.atGate && one.batch.failed):
	case r.earlier:
		one.LetIn, one.LetInEarlier = one.Queued, true
	default:
		one.LetIn = r.since
	}
}

// within is the rank at which a lease was within the limit first. One that counts for sure is within the true limit, if
// not that which is given. One that never had a place at the gate is no client's that is known: there is no telling
// when it counts, unless the limit is known.
func (one *contender) within(limit int, known bool) (rank, bool) {
	for _, r := range one.ranks {
		if r.count <= limit || one.older || one.batch == nil && !known {
			return r, true
		}
	}
	if one.counts() {
		return one.ranks[len(one.ranks)-1], true
	}
	return rank{}, false
}

// neverLeased is for a place at the gate that has not become a lease.
func (one *contender) neverLeased() {
	one.LetIn, one.LetInEarlier = txnlog.Moment{}, false
	if one.How == Released {
		one.How = GaveUp
	}
}
