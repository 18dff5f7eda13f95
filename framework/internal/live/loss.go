package live

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/cgroup"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
)

// A loss is the end of a term or of a session, with what explains it. All bindings of the term share it.
//
// Leases end first. The end of a term only notes its place in the ring, under the mutex. keep copies the events when
// all bindings have ended, or a holder that asks before. Either happens before the session's conclusion is over, see
// endBindings, and so before the client's next session writes to the ring, which has room for far more events than come
// in between. The judgement waits until it is asked for.
//
// An error may be retained for long: from keep on it does not retain the session, and once explained no events.
type loss struct {
	is       cause.Loss
	mark     uint64 // the place in the ring
	meter    *cgroup.Meter
	once     sync.Once
	of       *validity // nil once kept
	survival *survival // says whether the session has ended too; for Disconnected alone
	record   atomic.Pointer[cause.Record]
	why      atomic.Pointer[session.Explanation]
}

// lossLocked is a loss of now.
func (v *validity) lossLocked(now time.Time, how cause.How) *loss {
	v.ring.End(now, how)
	from, until := v.leases.last, v.leases.deadline()
	if v.term != nil {
		from, until = v.leases.anchor, v.leases.validUntil()
	}
	return &loss{of: v, mark: v.ring.Mark(), meter: v.cfg.Meter, is: cause.Loss{
		How: how, At: v.ring.Since(now), From: v.ring.Since(from), Until: v.ring.Since(until), Timeout: int64(v.leases.timeout),
		Heard: !v.renewal.heard(&v.leases).IsZero(), Valid: v.term != nil,
	}}
}

// ranLocked notes that the session's clock runs, and how late.
func (v *validity) ranLocked(now time.Time) { v.ring.Run(now, v.planned, v.clock.Suspended()) }

// keep copies what explains the loss, once. The mutex is not held.
func (l *loss) keep() {
	l.once.Do(func() {
		l.of.mu.Lock()
		record := l.of.ring.Record(l.mark, &l.is)
		l.of.mu.Unlock()
		l.record.Store(&record)
		l.of = nil
	})
}

// explain judges once, but for a process that did not run: until there is a later sample of its cgroup, see endSample,
// nothing says whether it was throttled.
func (l *loss) explain() session.Explanation {
	if why, known := l.survival.endedBy(); known {
		return why
	}
	l.keep()
	record := l.record.Load()
	if record == nil {
		return *l.why.Load()
	}
	is := l.is
	is.Throttled = l.throttled
	why := cause.Judge(*record, is)
	if why.Kind == session.LossProcessStopped && l.meter.Awaits(time.Duration(is.At)) {
		return why
	}
	l.why.CompareAndSwap(nil, &why)
	l.record.Store(nil)
	return *l.why.Load()
}

// throttled says what samples have between two times of the ring.
func (l *loss) throttled(from, to int64) (throttled, span int64, known bool) {
	use, known := l.meter.Between(time.Duration(from), time.Duration(to))
	return int64(use.Throttled), int64(use.Span), known
}

// meter has a sample of the process's cgroup taken, if one is due, on the goroutine of chores. No mutex is held.
func (v *validity) meter(now time.Time) {
	if v.cfg.Meter.Due(time.Duration(v.ring.Since(now))) {
		v.tell.Chore(v.sample)
	}
}

// endSample has a sample taken after the end of leases, before bindings are tidied up: see explain.
func (v *validity) endSample() {
	if v.cfg.Meter != nil {
		v.tell.Chore(v.sample)
	}
}

// takeSample reads files. The sample's time is when it is read: a chore may have waited while the process did not run.
func (v *validity) takeSample() { v.cfg.Meter.Take(time.Duration(v.ring.Since(v.clock.Now()))) }

// A lostError is the end of a term or of a session, with the explanation: see [session.Explain].
type lostError struct {
	error
	loss *loss
}

func (e *lostError) Unwrap() error { return e.error }

// Explain is for [session.Explain].
func (e *lostError) Explain() session.Explanation { return e.loss.explain() }

// endCode is why a connection ended. The mutex is not held: see transport.FailureCode.
func endCode(reason error) cause.Code {
	if errors.Is(reason, errNoRenewal) {
		return cause.NotRenewed
	}
	return transport.FailureCode(reason)
}
