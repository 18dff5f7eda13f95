package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// Go has no thread that could own a lock, so a context from Lease.Context does. It knows its lease and the leases of
// the contexts it was derived from, the innermost first.

type ownerKey struct{}

type owner struct {
	lease *Lease
	outer *owner
}

func ownerOf(ctx context.Context) *owner {
	o, _ := ctx.Value(ownerKey{}).(*owner)
	return o
}

// WithoutLease returns a context that owns no lease, so an Acquire with it queues. It is for goroutines that must
// exclude each other, or the holder, although their contexts derive from the holder's.
func WithoutLease(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownerKey{}, (*owner)(nil))
}

// Locks with equal identities are the same lock.
type identity struct {
	client *framework.Client // the view without a namespace, which all facades of a client share
	path   string
	family string
}

const (
	mutexFamily     = "mutex"
	readWriteFamily = "read/write lock"
	semaphoreFamily = "semaphore"
)

// find returns the innermost such lease that ctx owns.
func find(ctx context.Context, id identity, accept func(*Lease) bool) *Lease {
	for o := ownerOf(ctx); o != nil; o = o.outer {
		if o.lease.recipe.id == id && accept(o.lease) {
			return o.lease
		}
	}
	return nil
}

// findLasting is find for a lease that lasts.
func findLasting(ctx context.Context, id identity, accept func(*queue.Grant) bool) *Lease {
	return find(ctx, id, func(l *Lease) bool { return accept(l.grant) && l.Err() == nil })
}

func owns(ctx context.Context, id identity, accept func(*queue.Grant) bool) bool {
	return findLasting(ctx, id, accept) != nil
}
