package locks

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework/session"
)

// A Lock can be acquired. All recipes here are Locks.
//
// Curator: InterProcessLock.
type Lock interface {
	// Acquire waits for the lock and returns a Lease on it.
	Acquire(ctx context.Context) (*Lease, error)
	// TryAcquire returns a Lease if no other contender holds the lock or waits for it, and ErrNotAcquired otherwise. It
	// waits only for the servers, at most for the client's connection timeout.
	TryAcquire(ctx context.Context) (*Lease, error)
}

// Do runs work while it holds lock, and releases the lease when work returns or panics. work gets the lease's context,
// which owns the lock and ends when ctx ends or the lock is lost.
//
// Do blocks until the lease is released. [Within] bounds the wait for the lock, and not work.
//
// Errors: Acquire's, or work's and Release's, joined. If the lock was lost, the error is [ErrLeaseLost] even if work
// returned nil, because it may have gone on without the lock. A nil lock or work is refused at once.
//
// Curator: Locker.
func Do(ctx context.Context, lock Lock, work func(ctx context.Context) error) (err error) {
	switch {
	case lock == nil:
		return errors.New("locks: Do: the lock is nil")
	case work == nil:
		return errors.New("locks: Do: the function is nil")
	}
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

// ReleaseAll releases all leases, the last one first. It waits for the servers' answers together, for at most the
// longest connection timeout of their clients, and returns every failure.
//
// Curator: InterProcessSemaphoreV2.returnAll().
func ReleaseAll(leases ...*Lease) error { return releaseAll(nil, leases...) }
