package locks

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// A Trace is a set of functions that a lock calls, unless they are nil.
//
// AcquireStart runs on the goroutine that calls Acquire. The others run later on the goroutine of the client's
// framework.Trace, one at a time, a lease's in order. One that blocks delays other traces, but no lock. Beyond 1,024
// pending calls the client drops further ones, except Lost and RevocationRequested, and counts them in its log.
type Trace struct {
	// AcquireStart is called when Acquire or TryAcquire begins, and returns its context until AcquireEnd. While it
	// blocks, Acquire blocks, whatever ctx says.
	AcquireStart func(ctx context.Context, start AcquireStart) context.Context
	// Waiting is called when a contender begins to wait, and each time it moves up.
	Waiting func(ctx context.Context, waiting Waiting)
	// AcquireEnd is called after Acquire or TryAcquire.
	AcquireEnd func(ctx context.Context, end AcquireEnd)
	// RevocationRequested is called once for each hold whose holder another client asks to leave.
	RevocationRequested func(requested RevocationRequested)
	// Released is called after the release of a hold's last lease.
	Released func(released Released)
	// RetentionEnded is called when an idle retained node is removed, see [RetainedLock].
	RetentionEnded func(ended RetentionEnded)
	// Lost is called when leases have ended without release. After the removal of a node it waits for the next answer
	// of a server or the session's end, which tell whether the session ended too.
	Lost func(lost Lost)
}

// AcquireStart describes an acquire that begins.
type AcquireStart struct {
	Path string
}

// Waiting describes a contender that begins to wait.
type Waiting struct {
	Path        string
	Node        string // the contender's
	Predecessor string // the nearest conflicting node ahead
	Ahead       int    // how many nodes ahead conflict
	OwnClient   bool   // Predecessor is of the same client
	// Local says that the contender waits in this process, without a node: see [RetainedLock]. If it contends at the
	// servers later, another call may follow.
	Local bool
}

// AcquireEnd describes the end of an acquire.
type AcquireEnd struct {
	Path   string
	Node   string // the lease's; empty after an error
	Token  int64
	Waited time.Duration
	// HandOver is the time since the news that the node ahead was gone; zero without a wait.
	HandOver  time.Duration
	Reentered bool // the caller held the lock already
	// FencingCount is the lease's. If it is not zero without Reentered, the node was handed over.
	FencingCount int64
	Session      int64 // the lease's; 0 after an error
	// Zxid is the newest transaction that the client had seen before Acquire returned, see session.Session's LastZxid.
	// The hold begins after it, as the servers' log shows. It also begins after the deletion of the last Waiting's
	// Predecessor, whose watch event does not count.
	Zxid int64
	Err  error
}

// RevocationRequested describes a request to a holder to leave.
type RevocationRequested struct {
	Path string
	Node string // the holder's
}

// Released describes the end of a hold.
type Released struct {
	Path         string
	Node         string
	Held         time.Duration // until the lease ended, not until its node was removed
	FencingCount int64
	Zxid         int64 // the newest transaction that the client had seen when the hold ended
	// HandedOver says that the node went to the next contender here, see [RetainedLock].
	HandedOver bool
	// Retained says that the node waits here for the next one.
	Retained bool
	Err      error // why the node could not be removed
}

// RetentionEnded describes a retained node that was idle, and is removed.
type RetentionEnded struct {
	Path     string
	Node     string
	Kept     time.Duration // since its admission
	Idle     time.Duration // since its last hold
	Holds    int
	Demanded bool // a contender outside of the local queue wanted it
}

// Lost describes a hold that ended without release.
type Lost struct {
	Path         string
	Node         string
	Held         time.Duration // until the lease ended, which a process that stood still notices later
	FencingCount int64
	Zxid         int64 // the newest transaction that the client had seen when it noticed the loss
	Err          error // a *LostError
	// Explanation says why: its Kind is for a metric's label, its Sentence for people. It comes from the *LostError's
	// Explain. Under framework.StandardErrorPolicy a later call may know more, see session.LossConnectionLost.
	Explanation session.Explanation
}

// A reporter calls the trace on a goroutine of the client, because locks report where leases end.
type reporter struct {
	trace  Trace
	client *framework.Client
}

func (r *reporter) acquireStart(ctx context.Context, start AcquireStart) context.Context {
	if r.trace.AcquireStart == nil {
		return ctx
	}
	return r.trace.AcquireStart(ctx, start)
}

func (r *reporter) waiting(ctx context.Context, waiting Waiting) {
	if r.trace.Waiting != nil {
		r.client.QueueTrace(func() { r.trace.Waiting(ctx, waiting) })
	}
}

func (r *reporter) acquireEnd(ctx context.Context, end AcquireEnd) {
	if r.trace.AcquireEnd != nil {
		r.client.QueueTrace(func() { r.trace.AcquireEnd(ctx, end) })
	}
}

func (r *reporter) revocationRequested(e RevocationRequested) {
	report(r, r.trace.RevocationRequested, e, true)
}
func (r *reporter) released(e Released)             { report(r, r.trace.Released, e, false) }
func (r *reporter) retentionEnded(e RetentionEnded) { report(r, r.trace.RetentionEnded, e, false) }
func (r *reporter) lost(e Lost)                     { report(r, r.trace.Lost, e, true) }

// report calls fn, unless it is nil. A call that is due always is never dropped.
func report[E any](r *reporter, fn func(E), event E, always bool) {
	switch {
	case fn == nil:
	case always:
		r.client.QueueTraceAlways(func() { fn(event) })
	default:
		r.client.QueueTrace(func() { fn(event) })
	}
}
