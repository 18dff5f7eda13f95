package locks

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
)

// A Trace is a set of functions that a lock calls, unless they are nil.
//
// AcquireStart runs on the goroutine that calls Acquire, which waits for it. The others run after what they report, one
// at a time, those of one lease in their order, on the goroutine on which the client calls its framework.Trace. If one
// blocks, it delays other calls of traces, but no acquire, release or end of a lease. Of more than 1,024 pending calls
// the client drops further ones and counts them in its log; it never drops Lost and RevocationRequested.
type Trace struct {
	// AcquireStart is called when Acquire or TryAcquire begins, and returns the context of the acquire until
	// AcquireEnd. While it blocks, Acquire blocks too, even after the end of ctx.
	AcquireStart func(ctx context.Context, start AcquireStart) context.Context
	// Waiting is called when a contender begins to wait, and each time it has moved up.
	Waiting func(ctx context.Context, waiting Waiting)
	// AcquireEnd is called after an Acquire or TryAcquire has ended.
	AcquireEnd func(ctx context.Context, end AcquireEnd)
	// RevocationRequested is called once for each hold whose holder another client asks to leave.
	RevocationRequested func(requested RevocationRequested)
	// Released is called when the last lease of a hold has been released.
	Released func(released Released)
	// Dropped is called when a retained node that was idle is removed, see [Retain].
	Dropped func(dropped Dropped)
	// Lost is called when leases have ended without their release.
	Lost func(lost Lost)
}

// AcquireStart describes the beginning of an acquire.
type AcquireStart struct {
	Path string
}

// Waiting describes a contender that begins to wait.
type Waiting struct {
	Path        string
	Node        string // the contender's
	Predecessor string // the nearest conflicting node ahead
	Ahead       int    // how many nodes ahead conflict
	// OwnClient says that Predecessor is of the same client.
	OwnClient bool
	// Local says that the contender waits in this process, behind others of its client, and has no node: see [Retain].
	// Another call may follow when it contends at the servers.
	Local bool
}

// AcquireEnd describes the end of an acquire.
type AcquireEnd struct {
	Path   string
	Node   string // the lease's; empty after an error
	Token  int64  // the lease's
	Waited time.Duration
	// HandOver is the time since the news that the node ahead was gone; zero without a wait.
	HandOver  time.Duration
	Reentered bool // no node was made: the caller held the lock already
	// LocalCount is the lease's. If it is not zero and Reentered is false, the node was handed over.
	LocalCount int64
	Err        error
}

// RevocationRequested describes a request to a holder to leave.
type RevocationRequested struct {
	Path string
	Node string // the holder's
}

// Released describes the end of a hold.
type Released struct {
	Path string
	Node string
	Held time.Duration
	// LocalCount is the lease's: holds that share a node differ by it.
	LocalCount int64
	// HandedOver says that the node went to the next contender here: see [Retain].
	HandedOver bool
	// Retained says that the node waits for the next contender here: see [Retain].
	Retained bool
	Err      error // of the removal of the node
}

// Dropped describes a retained node that is removed while it was idle.
type Dropped struct {
	Path     string
	Node     string
	Kept     time.Duration // since its admission
	Idle     time.Duration // since its last hold
	Holds    int           // that it had
	Demanded bool          // a contender outside of the local queue wanted it
}

// Lost describes the end of a hold that was not released.
type Lost struct {
	Path string
	Node string
	Held time.Duration
	// LocalCount is the lease's.
	LocalCount int64
	Err        error // a *LostError
}

// A reporter calls the functions of a lock's trace, by way of a goroutine of the client's: locks report where other
// contenders wait, and where leases end.
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
		r.client.Report(func() { r.trace.Waiting(ctx, waiting) })
	}
}

func (r *reporter) acquireEnd(ctx context.Context, end AcquireEnd) {
	if r.trace.AcquireEnd != nil {
		r.client.Report(func() { r.trace.AcquireEnd(ctx, end) })
	}
}

func (r *reporter) revocationRequested(requested RevocationRequested) {
	if r.trace.RevocationRequested != nil {
		r.client.ReportAlways(func() { r.trace.RevocationRequested(requested) })
	}
}

func (r *reporter) released(released Released) {
	if r.trace.Released != nil {
		r.client.Report(func() { r.trace.Released(released) })
	}
}

func (r *reporter) dropped(dropped Dropped) {
	if r.trace.Dropped != nil {
		r.client.Report(func() { r.trace.Dropped(dropped) })
	}
}

func (r *reporter) lost(lost Lost) {
	if r.trace.Lost != nil {
		r.client.ReportAlways(func() { r.trace.Lost(lost) })
	}
}
