package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
)

// An InterProcessSemaphoreMutex is a lock that is not reentrant: an owner that acquires it again deadlocks. Any
// goroutine may release a lease. It is safe for concurrent use.
//
// It is a semaphore with one lease, also on the wire, so it does not exclude an [InterProcessMutex] at its path.
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

// made is the semaphore, an unusable one without the constructor.
func (m *InterProcessSemaphoreMutex) made() *InterProcessSemaphoreV2 {
	if m.semaphore == nil {
		return &InterProcessSemaphoreV2{}
	}
	return m.semaphore
}

// Acquire waits for the lock, as [InterProcessSemaphoreV2.AcquireN] does.
//
// Curator: InterProcessSemaphoreMutex.acquire().
func (m *InterProcessSemaphoreMutex) Acquire(ctx context.Context) (*Lease, error) {
	return m.made().Acquire(ctx)
}

// TryAcquire is like [InterProcessSemaphoreV2.TryAcquire].
//
// Curator: InterProcessSemaphoreMutex.acquire(0, unit).
func (m *InterProcessSemaphoreMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return m.made().TryAcquire(ctx)
}

func (m *InterProcessSemaphoreMutex) identities() []identity { return m.made().identities() }

// IsAcquiredInThisProcess reports whether this client holds the lock.
//
// Curator: InterProcessSemaphoreMutex.isAcquiredInThisProcess().
func (m *InterProcessSemaphoreMutex) IsAcquiredInThisProcess() bool {
	return m.made().recipe.isHeld(anyGrant)
}

// Participants returns who holds the lock and who is next.
func (m *InterProcessSemaphoreMutex) Participants(ctx context.Context) ([]Participant, error) {
	return m.made().Participants(ctx)
}
