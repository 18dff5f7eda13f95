package locks

import (
	"context"
	"fmt"
)

// Context returns a context that ends with parent and with the lease: context.Cause is then [ErrReleased] or a
// [*LostError].
//
// Its Err compares the time with ValidUntil, and ends the lease and the contexts made from it within the call. So the
// first Err is correct after a suspension, when timers are late. Done may be late, and so may Err of a context that
// context.WithCancel or WithTimeout made from this one, which ends with the first check of this context or the lease. A
// context of another type follows when its own Done is closed.
//
// It owns the lease: an Acquire of the same lock with it re-enters. Goroutines that share it do not exclude each other;
// see [WithoutLease].
func (l *Lease) Context(parent context.Context) context.Context {
	_ = l.Err() // ends the lease if its time is up
	inner, end := context.WithCancelCause(parent)
	c := &leaseContext{Context: inner, end: end, lease: l, owners: ownerOf(parent)}
	c.outer, _ = parent.Value(leaseContextKey{}).(*leaseContext)
	for _, part := range l.single() {
		c.owners = &owner{lease: part, outer: c.owners}
	}
	if err := l.missing(); err != nil {
		end(err)
		return c
	}
	l.follow(follower{ctx: inner, end: end})
	return c
}

// A leaseContext is a context of package context whose Err compares the time. Its Done is the inside context's, so
// package context makes children of that, which have no goroutine, and end in the call of end.
type leaseContext struct {
	context.Context //nolint:containedctx // this is one
	end             context.CancelCauseFunc
	lease           *Lease
	owners          *owner
	outer           *leaseContext // the nearest that this one comes from; nil if there is none
}

type leaseContextKey struct{}

func (c *leaseContext) Value(key any) any {
	switch key {
	case ownerKey{}:
		return c.owners
	case leaseContextKey{}:
		return c
	}
	return c.Context.Value(key)
}

// Err compares the time for this context's lease, and for those of the contexts that it comes from.
//
// After a suspension several goroutines find the time up at once. While one ends the lease and calls its followers,
// another sees the loss in Lease.Err. It ends this context itself, because it must not return before. If the first is
// in the middle of that, Cause waits for the children by the mutex of the context inside.
func (c *leaseContext) Err() error {
	if c.Context.Err() == nil {
		for at := c; at != nil; at = at.outer {
			if over := at.lease.Err(); over != nil {
				at.end(over)
			}
		}
	}
	err := c.Context.Err()
	if err != nil {
		_ = context.Cause(c.Context)
	}
	return err
}

func (c *leaseContext) String() string { return fmt.Sprintf("%v.Lease(%v)", c.Context, c.lease) }
