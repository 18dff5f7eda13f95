package locks

import (
	"context"
	"errors"
	"slices"

	"github.com/gocurator/curator/framework/session"
)

// A Lock can be acquired. All recipes of this package are Locks.
//
// Curator: InterProcessLock.
type Lock interface {
	// Acquire waits for the lock and returns a Lease on it.
	Acquire(ctx context.Context) (*Lease, error)
	// TryAcquire returns a Lease if nobody else holds the lock or waits for it, and ErrNotAcquired otherwise. It waits
	// for no contender, and for the servers for at most the client's connection timeout.
	TryAcquire(ctx context.Context) (*Lease, error)
}

// Do runs work while it holds lock. The context of work is the lease's: it ends when ctx ends or the lock is lost, and
// an Acquire of the same lock with it re-enters. Do releases the lease when work returns or panics.
//
// Do blocks until it has the lock, work has returned and the lease is released. With [Within] the wait for the lock has
// a time limit of its own, which does not bound work.
//
// Errors: that of Acquire; or those of work and of Release, joined. If the lock was lost while work ran, the error is
// [ErrLeaseLost] even if work returned nil: work may have gone on without the lock.
//
// Curator: Locker.
func Do(ctx context.Context, lock Lock, work func(ctx context.Context) error) (err error) {
	lease, err := lock.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if released := lease.Release(); !errors.Is(err, released) { // work may return the loss, as the cause of its ctx
			err = session.JoinErrors(err, released)
		}
	}()
	return work(lease.Context(ctx))
}

// ReleaseAll releases leases, the last one first. It tries all of them, and returns every failure.
//
// Curator: InterProcessSemaphoreV2.returnAll().
func ReleaseAll(leases ...*Lease) error {
	var errs []error
	for _, lease := range slices.Backward(leases) {
		errs = append(errs, lease.Release())
	}
	return session.JoinErrors(errs...)
}

// rollBack is ReleaseAll for leases that the caller of an acquire never gets. It waits for the removals while ctx
// lasts; after that they go on in the background, which is no error.
func rollBack(ctx context.Context, leases []*Lease) error {
	var errs []error
	for _, lease := range slices.Backward(leases) {
		errs = append(errs, lease.release(ctx.Done()))
	}
	return session.JoinErrors(errs...)
}
