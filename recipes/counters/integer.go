package counters

import (
	"context"

	"github.com/gocurator/curator/framework"
)

// A DistributedAtomicInteger is a [DistributedAtomicLong] of 32 bits: four bytes in its node. Neither reads the other's
// node, see [ErrNotACounter].
//
// Curator: DistributedAtomicInteger.
type DistributedAtomicInteger struct{ counter counter[int32] }

// NewDistributedAtomicInteger is [NewDistributedAtomicLong] for 32 bits.
//
// Curator: new DistributedAtomicInteger(client, path, retryPolicy).
func NewDistributedAtomicInteger(client *framework.Client, path string, opts ...Option) *DistributedAtomicInteger {
	return &DistributedAtomicInteger{newCounter[int32](client, path, opts)}
}

// Get is [DistributedAtomicLong.Get].
//
// Curator: DistributedAtomicInteger.get().
func (i *DistributedAtomicInteger) Get(ctx context.Context) (int32, error) { return i.counter.get(ctx) }

// Add is [DistributedAtomicLong.Add].
//
// Curator: DistributedAtomicInteger.add(), subtract(), increment(), decrement().
func (i *DistributedAtomicInteger) Add(ctx context.Context, delta int32) (before, after int32, err error) {
	return i.counter.add(ctx, delta)
}

// CompareAndSet is [DistributedAtomicLong.CompareAndSet].
//
// Curator: DistributedAtomicInteger.compareAndSet().
func (i *DistributedAtomicInteger) CompareAndSet(ctx context.Context, old, value int32) (bool, error) {
	return i.counter.compareAndSet(ctx, old, value)
}

// Set is [DistributedAtomicLong.Set].
//
// Curator: DistributedAtomicInteger.forceSet().
func (i *DistributedAtomicInteger) Set(ctx context.Context, value int32) error {
	return i.counter.set(ctx, value)
}

// Initialize is [DistributedAtomicLong.Initialize].
//
// Curator: DistributedAtomicInteger.initialize().
func (i *DistributedAtomicInteger) Initialize(ctx context.Context, value int32) (bool, error) {
	return i.counter.initialize(ctx, value)
}
