package locks

import (
	"context"
	"time"
)

// A Trace is a set of functions that a lock calls. Those that are nil are not called. They run on the goroutine of the caller
// of Acquire or Release; Lost and RevocationRequested run on goroutines of the client. None may block for long, and those two not
// at all.
type Trace struct {
	// AcquireStart is called when Acquire or TryAcquire begins. What it returns is the context of the calls until AcquireEnd.
	AcquireStart func(ctx context.Context, start AcquireStart) context.Context
	// Waiting is called each time a contender begins to wait: when it comes, and when it hears that it has moved up.
	Waiting func(ctx context.Context, waiting Waiting)
	// AcquireEnd is called when Acquire or TryAcquire returns.
	AcquireEnd func(ctx context.Context, end AcquireEnd)
	// RevocationRequested is called when somebody asks a holder to leave, once for each hold.
	RevocationRequested func(requested RevocationRequested)
	// Released is called when the last lease of a hold has been released.
	Released func(released Released)
	// Lost is called when leases have ended without their release.
	Lost func(lost Lost)
}

// AcquireStart is told at the beginning of an acquire.
type AcquireStart struct {
	Path string // of the lock
}

// Waiting is told when a contender begins to wait.
type Waiting struct {
	Path   string // of the lock
	Node   string // the contender's node
	Ahead  string // the last node before it that stands in its way
	Behind int    // how many stand before it
	// OwnClient says that Ahead belongs to a lease or a wait of the same client.
	OwnClient bool
	// Local says that the contender waits in this process, behind others of its client, and has no node: see [WithLocalHandover].
	// It may be told once more when it has come to the front, and contends at the servers.
	Local bool
}

// AcquireEnd is told at the end of an acquire.
type AcquireEnd struct {
	Path   string // of the lock
	Node   string // of the lease; empty after an error
	Token  int64  // of the lease
	Waited time.Duration
	// HandOver is how long it took from the news that the node ahead was gone; zero if nobody had to be waited for.
	HandOver  time.Duration
	Reentered bool // no node was made: the caller holds the lock already
	// LocalCount is that of the lease: if it is not zero, and Reentered is not set, the node was handed over in this process.
	LocalCount int64
	Err        error
}

// RevocationRequested is told when a holder is asked to leave.
type RevocationRequested struct {
	Path string // of the lock
	Node string // of the holder
}

// Released is told at the end of a hold.
type Released struct {
	Path string
	Node string
	Held time.Duration
	// HandedOver says that the node was not removed, but given to the next one in this process: see [WithLocalHandover].
	HandedOver bool
	Err        error // of the removal of the node
}

// Lost is told at the end of a hold that was not released.
type Lost struct {
	Path string
	Node string
	Held time.Duration
	Err  error // a *LostError
}

func (t *Trace) acquireStart(ctx context.Context, start AcquireStart) context.Context {
	if t.AcquireStart == nil {
		return ctx
	}
	return t.AcquireStart(ctx, start)
}

func (t *Trace) waiting(ctx context.Context, waiting Waiting) {
	if t.Waiting != nil {
		t.Waiting(ctx, waiting)
	}
}

func (t *Trace) acquireEnd(ctx context.Context, end AcquireEnd) {
	if t.AcquireEnd != nil {
		t.AcquireEnd(ctx, end)
	}
}

func (t *Trace) revocationRequested(requested RevocationRequested) {
	if t.RevocationRequested != nil {
		t.RevocationRequested(requested)
	}
}

func (t *Trace) released(released Released) {
	if t.Released != nil {
		t.Released(released)
	}
}

func (t *Trace) lost(lost Lost) {
	if t.Lost != nil {
		t.Lost(lost)
	}
}
