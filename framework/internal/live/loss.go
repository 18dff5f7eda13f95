package live

import (
	"errors"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
)

// A loss is the end of a term or of a session, with what explains it. All bindings of the term share it.
//
// Leases end first. The end of a term notes its place in the ring, under the mutex, and copies nothing. The events are
// copied when all bindings have ended, by keep, or before that by a holder that asks already. Either happens before the
// session's conclusion is over, see endBindings, and so before the client's next session writes to the ring. The ring
// has room for far more events than come in between. The judgement waits until it is asked for.
type loss struct {
	validity *validity
	is       cause.Loss
	mark     uint64 // the place in the ring
	once     sync.Once
	why      session.Explanation // once has run

	// Guarded by the mutex.
	kept   bool
	record cause.Record
}

// lossLocked is a loss of now.
func (v *validity) lossLocked(now time.Time, how cause.How) *loss {
	v.ring.End(now, how)
	from, until := v.leases.last, v.leases.deadline()
	if v.term != nil {
		from, until = v.leases.anchor, v.leases.validUntil()
	}
	return &loss{validity: v, mark: v.ring.Mark(), is: cause.Loss{
		How: how, At: v.ring.Since(now), From: v.ring.Since(from), Until: v.ring.Since(until), Timeout: int64(v.leases.timeout),
		Heard: v.heardLocked(), Valid: v.term != nil,
	}}
}

// heardLocked reports whether something has arrived since the pending renewal was sent.
func (v *validity) heardLocked() bool { return v.transport.Arrivals() != v.renewal.arrivals }

// ranLocked notes that the session's clock runs, and how late.
func (v *validity) ranLocked(now time.Time) { v.ring.Run(now, v.planned, v.clock.Suspended()) }

// keep copies what explains the loss, once.
func (l *loss) keep() {
	l.validity.mu.Lock()
	defer l.validity.mu.Unlock()
	if !l.kept {
		l.kept, l.record = true, l.validity.ring.Until(l.mark)
	}
}

func (l *loss) explain() session.Explanation {
	l.once.Do(func() {
		l.keep()
		l.validity.mu.Lock()
		record := l.record
		l.record = cause.Record{}
		l.validity.mu.Unlock()
		is := l.is
		is.Throttled = l.validity.throttled
		l.why = cause.Judge(record, is)
	})
	return l.why
}

// throttled takes a sample of now, and says what happened between two times of the ring.
func (v *validity) throttled(from, to int64) (throttled, span int64, known bool) {
	v.cfg.Meter.Take(time.Duration(v.ring.Since(v.clock.Now())))
	use, known := v.cfg.Meter.Between(time.Duration(from), time.Duration(to))
	return int64(use.Throttled), int64(use.Span), known
}

// meter has a sample of the process's cgroup taken, if one is due, on the goroutine of chores. No mutex is held.
func (v *validity) meter(now time.Time) {
	if at := time.Duration(v.ring.Since(now)); v.cfg.Meter.Due(at) {
		v.tell.Chore(func() { v.cfg.Meter.Take(at) })
	}
}

// A lostError is the end of a term or of a session, with the explanation: see [session.Explain].
type lostError struct {
	error
	loss *loss
}

func (e *lostError) Unwrap() error { return e.error }

// Explain is for [session.Explain].
func (e *lostError) Explain() session.Explanation { return e.loss.explain() }

// endCode is why a connection ended.
func (b *base) endCode(reason error) cause.Code {
	if errors.Is(reason, errNoRenewal) {
		return cause.NotRenewed
	}
	return transport.FailureCode(reason)
}
