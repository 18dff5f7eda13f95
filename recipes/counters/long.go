package counters

import (
	"context"

	"github.com/gocurator/curator/framework"
)

// A DistributedAtomicLong is a 64-bit number in a node that all processes share. Its methods are safe for concurrent
// use. It has no state of its own: several for one path are as one.
//
// Curator: DistributedAtomicLong.
type DistributedAtomicLong struct{ counter counter[int64] }

// NewDistributedAtomicLong returns the number at path. It does no I/O. The first call on the number, and each further
// one, reports misuse: a nil client, an invalid path or a wrong option.
//
// Curator: new DistributedAtomicLong(client, path, retryPolicy). The policy has no counterpart: ctx bounds each call.
func NewDistributedAtomicLong(client *framework.Client, path string, opts ...Option) *DistributedAtomicLong {
	return &DistributedAtomicLong{newCounter[int64](client, path, opts)}
}

// Get returns the number, and 0 if there is no node. It reads from the client's server, which may be a moment behind;
// after client.Sync(ctx, path) it is not.
//
// It blocks and fails like every operation of package framework, and with [ErrNotACounter].
//
// Curator: DistributedAtomicLong.get().
func (l *DistributedAtomicLong) Get(ctx context.Context) (int64, error) { return l.counter.get(ctx) }

// Add adds delta, which may be negative, and returns the numbers right before and after. While all clients add positive
// deltas, no two get the same. It makes a missing node, with its parents as containers, and counts from 0.
//
// It blocks until it has counted. After a lost race it reads again, without a pause at first, and then with pauses at
// random of up to a second, for as long as ctx lasts: no number of lost races is an error. [WithLock] has it queue
// after three.
//
// After an error before and after are 0. With [ErrUnknown] it may have counted, once; see there. With every other error
// it has not: [ErrNotACounter], those of all operations of package framework, and those of locks.InterProcessMutex's
// Acquire. A lock has been released by then, which can last for the client's connection timeout.
//
// Curator: DistributedAtomicLong.add(), subtract(), increment(), decrement(). There lost races end as the retry policy
// says, with succeeded() false.
func (l *DistributedAtomicLong) Add(ctx context.Context, delta int64) (before, after int64, err error) {
	return l.counter.add(ctx, delta)
}

// CompareAndSet sets the number to value if it is old, and reports whether it did. It tries once: false may also mean
// that another write came between the read and the write, even one of the same number. A missing node is not 0 here,
// but false: see Initialize.
//
// It blocks and fails as Add does, but never waits for a lock.
//
// Curator: DistributedAtomicLong.compareAndSet().
func (l *DistributedAtomicLong) CompareAndSet(ctx context.Context, old, value int64) (bool, error) {
	return l.counter.compareAndSet(ctx, old, value)
}

// Set sets the number, whatever it was, and makes a missing node. It replaces data that are not a number.
//
// It blocks and fails like every operation of package framework, and is repeated when its answer was lost: after an
// error it may have been executed, and without one more than once, also after a later write of another client. So it is
// for a number at rest.
//
// Curator: DistributedAtomicLong.forceSet().
func (l *DistributedAtomicLong) Set(ctx context.Context, value int64) error {
	return l.counter.set(ctx, value)
}

// Initialize makes the node with value if there is none, and reports whether it did. Missing parents become containers.
//
// It blocks and fails like every operation of package framework. With [ErrUnknown] it may have made a node; with every
// other error it has not.
//
// Curator: DistributedAtomicLong.initialize().
func (l *DistributedAtomicLong) Initialize(ctx context.Context, value int64) (bool, error) {
	return l.counter.initialize(ctx, value)
}
