package history

import (
	"time"

	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
)

func (b *builder) end(one *contender, t zktest.Transaction, now txnlog.Moment) {
	delete(b.there, one.Path)
	if one.LetIn.Zxid == now.Zxid { // a session ends that stood behind itself
		one.LetIn = txnlog.Moment{}
	}
	one.Ended, one.EndedBy, one.How = now, t.Session, how(one, t)
	one.line.leave(one, now)
	if one.leased {
		one.batch.gate = nil
	}
	if one.line.family == Exclusion && (one.How == Released || one.How == Unknown) {
		b.passGate(one)
	}
	if now.At.IsZero() {
		b.undated = append(b.undated, one)
	} else {
		b.keep(one, now.At)
	}
	if l := one.line; len(l.queue) == 0 && l.family != Leases { // a path has many locks over time
		delete(b.lines, lineKey{l.dir, l.family})
		if l.mixed != 0 {
			b.mixed[l.dir] |= l.mixed
		}
	}
}

// how says how a contender ended, by the transaction that deleted its node.
func how(one *contender, t zktest.Transaction) How {
	switch {
	case t.At.IsZero(), one.isUnknown() && !t.EndsSession:
		return Unknown
	case t.EndsSession && t.Request != 0:
		return Closed
	case t.EndsSession:
		return Expired
	case t.Session != one.Session || t.Session == 0:
		return Removed
	case !one.In():
		return GaveUp
	default:
		return Released
	}
}

// keepUndated takes in what ended before a moment, in a gap of the logs.
func (b *builder) keepUndated(now txnlog.Moment) {
	for _, one := range b.undated {
		b.keep(one, now.At)
	}
	b.undated = nil
}

// keep takes in a contender that has ended, at some time until the one given, unless it is left out.
func (b *builder) keep(one *contender, until time.Time) {
	if !b.o.From.IsZero() && until.Before(b.o.From) || !b.o.To.IsZero() && one.Queued.At.After(b.o.To) || one.leased {
		return
	}
	b.ended = append(b.ended, one)
	if b.o.Most > 0 && len(b.ended) >= 2*b.o.Most { // half at a time, so that each is moved once
		cut := len(b.ended) - b.o.Most
		b.ended = append(b.ended[:0], b.ended[cut:]...)
		clear(b.ended[len(b.ended):cap(b.ended)])
		b.omit += cut
	}
}
