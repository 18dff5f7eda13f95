package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
)

// An InterProcessSemaphoreMutex is a lock that is not reentrant: an owner that acquires it again deadlocks. Any
// goroutine may release a lease.
//
// It is a semaphore with one lease, also on the wire, and does not go together with an [InterProcessMutex] at the same
// path. Its methods are safe for concurrent use.
//
// Curator: InterProcessSemaphoreMutex.
type InterProcessSemaphoreMutex struct{ semaphore *InterProcessSemaphoreV2 }

var _ Lock = (*InterProcessSemaphoreMutex)(nil)

// NewInterProcessSemaphoreMutex returns the lock at path. It does no I/O; the first call reports misuse.
//
// Curator: new InterProcessSemaphoreMutex(client, path).
func NewInterProcessSemaphoreMutex(client *framework.Client, path string, opts ...Option) *InterProcessSemaphoreMutex {
	return &InterProcessSemaphoreMutex{semaphore: NewInterProcessSemaphoreV2(client, path, 1, opts...)}
}

// Acquire waits for the lock, as [InterProcessSemaphoreV2.AcquireN] does.
//
// Curator: InterProcessSemaphoreMutex.acquire().
func (m *InterProcessSemaphoreMutex) Acquire(ctx context.Context) (*Lease, error) {
	return m.semaphore.Acquire(ctx)
}

// TryAcquire returns a Lease if the lock is free and nobody waits for it, and [ErrNotAcquired] otherwise.
//
// Curator: InterProcessSemaphoreMutex.acquire(0, unit).
func (m *InterProcessSemaphoreMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return m.semaphore.TryAcquire(ctx)
}

func (m *InterProcessSemaphoreMutex) identities() []identity { return m.semaphore.identities() }

// IsAcquiredInThisProcess reports whether this lock is held through the same client.
//
// Curator: InterProcessSemaphoreMutex.isAcquiredInThisProcess().
func (m *InterProcessSemaphoreMutex) IsAcquiredInThisProcess() bool {
	return m.semaphore.recipe.isHeld(anyGrant)
}

// Participants returns who holds the lock and who is the next to get it.
func (m *InterProcessSemaphoreMutex) Participants(ctx context.Context) ([]Participant, error) {
	return m.semaphore.Participants(ctx)
}
