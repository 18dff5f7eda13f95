package locks

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// An InterProcessReadWriteLock is a pair of reentrant locks: any number of readers, or one writer. They are admitted in
// the order in which they came, consecutive readers together, so neither kind starves the other.
//
// The writer may take the read lock as well, and keep it when it releases the write lock, with no other writer in
// between. A reader cannot take the write lock: [ErrUpgrade]. Its methods are safe for concurrent use.
//
// Curator: InterProcessReadWriteLock.
type InterProcessReadWriteLock struct {
	read  ReadLock
	write WriteLock
}

// ErrUpgrade refuses the write lock to the owner of a read lock, which would deadlock.
var ErrUpgrade = errors.New("locks: a read lock cannot be upgraded to the write lock; release it first")

// A ReadLock is the shared side of an [InterProcessReadWriteLock].
//
// Curator: InterProcessReadWriteLock.ReadLock.
type ReadLock struct{ recipe recipe }

// A WriteLock is the exclusive side of an [InterProcessReadWriteLock].
//
// Curator: InterProcessReadWriteLock.WriteLock.
type WriteLock struct{ recipe recipe }

var (
	_ Lock = (*ReadLock)(nil)
	_ Lock = (*WriteLock)(nil)
)

// NewInterProcessReadWriteLock returns the read/write lock at path. It does no I/O; the first call reports misuse. Lock
// data goes into all nodes.
//
// Curator: new InterProcessReadWriteLock(client, path, lockData).
func NewInterProcessReadWriteLock(client *framework.Client, path string, opts ...Option) *InterProcessReadWriteLock {
	side := func(marker string) recipe {
		return newRecipe(client, path, opts, kind{family: readWriteFamily, marker: marker})
	}
	return &InterProcessReadWriteLock{read: ReadLock{recipe: side(queue.ReadMarker)}, write: WriteLock{recipe: side(queue.WriteMarker)}}
}

// ReadLock returns the shared side.
//
// Curator: InterProcessReadWriteLock.readLock().
func (l *InterProcessReadWriteLock) ReadLock() *ReadLock { return &l.read }

// WriteLock returns the exclusive side.
//
// Curator: InterProcessReadWriteLock.writeLock().
func (l *InterProcessReadWriteLock) WriteLock() *WriteLock { return &l.write }

// Acquire waits for the write lock, as [InterProcessMutex.Acquire] does. A context that owns the write lock re-enters;
// one that owns only the read lock fails with [ErrUpgrade].
//
// Curator: WriteLock.acquire().
func (l *WriteLock) Acquire(ctx context.Context) (*Lease, error) {
	return l.recipe.acquire(ctx, l.reenter, l.recipe.queue.Acquire)
}

// TryAcquire is [InterProcessMutex.TryAcquire] for the write lock: no other contender may hold either side or wait for
// it.
//
// Curator: WriteLock.acquire(0, unit).
func (l *WriteLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return l.recipe.try(ctx, l.reenter, l.recipe.queue.Try)
}

func (l *WriteLock) reenter(ctx context.Context) (*Lease, error) {
	innermost, err := l.recipe.reenter(ctx)
	if innermost == nil || err != nil {
		return nil, err
	}
	if write := findLasting(ctx, l.recipe.id, exclusiveGrant); write != nil {
		return write, nil
	}
	return nil, ErrUpgrade
}

// Acquire waits for the read lock, as [InterProcessMutex.Acquire] does, but only for earlier writers. A context that
// owns the read lock re-enters.
//
// With a context that owns the write lock it does not wait: a writer becomes a reader. The lease's node takes the
// writer's place in the queue and stays when the write lock is released. If the write lock is lost during the call, the
// error is [ErrLeaseLost]. Both leases are of one session and are lost together. The fencing token is the writer's,
// smaller than any later writer's.
//
// Curator: ReadLock.acquire().
func (l *ReadLock) Acquire(ctx context.Context) (*Lease, error) {
	return l.recipe.acquire(ctx, l.reenter, l.contend(ctx, l.recipe.queue.Acquire))
}

// TryAcquire is [InterProcessMutex.TryAcquire] for the read lock: no writer may hold the lock or wait for it.
//
// Curator: ReadLock.acquire(0, unit).
func (l *ReadLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return l.recipe.try(ctx, l.reenter, l.contend(ctx, l.recipe.queue.Try))
}

// reenter re-enters a read lease, also from within a nested write lease. For only a write lease see contend.
func (l *ReadLock) reenter(ctx context.Context) (*Lease, error) {
	innermost, err := l.recipe.reenter(ctx)
	if innermost == nil || err != nil {
		return nil, err
	}
	return findLasting(ctx, l.recipe.id, sharedGrant), nil
}

func (l *ReadLock) contend(ctx context.Context, otherwise contention) contention {
	write := find(ctx, l.recipe.id, func(*Lease) bool { return true })
	if write == nil || write.grant.Queue.Shared {
		return otherwise
	}
	return func(ctx context.Context) (*queue.Grant, queue.Progress, error) {
		g, err := l.nest(ctx, write)
		return g, queue.Progress{}, err
	}
}

// nest makes a reader of the writer, see queue.Queue.Downgrade. Another lease keeps the writer's node until the answer.
func (l *ReadLock) nest(ctx context.Context, write *Lease) (*queue.Grant, error) {
	keep, err := write.recipe.join(write.grant)
	if err != nil {
		return nil, err
	}
	defer keep.quit()
	return l.recipe.queue.Downgrade(ctx, write.grant)
}

func (l *ReadLock) identities() []identity { return l.recipe.identities() }

func (l *WriteLock) identities() []identity { return l.recipe.identities() }

// IsAcquiredInThisProcess reports whether this client holds the write lock.
//
// Curator: WriteLock.isAcquiredInThisProcess().
func (l *WriteLock) IsAcquiredInThisProcess() bool { return l.recipe.isHeld(exclusiveGrant) }

// IsAcquiredInThisProcess reports whether this client holds the read lock.
//
// Curator: ReadLock.isAcquiredInThisProcess().
func (l *ReadLock) IsAcquiredInThisProcess() bool { return l.recipe.isHeld(sharedGrant) }

// IsOwnedBy reports whether ctx owns a lease on the write lock that lasts.
//
// Curator: WriteLock.isOwnedByCurrentThread().
func (l *WriteLock) IsOwnedBy(ctx context.Context) bool {
	return owns(ctx, l.recipe.id, exclusiveGrant)
}

// IsOwnedBy reports whether ctx owns a lease on the read lock that lasts.
//
// Curator: ReadLock.isOwnedByCurrentThread().
func (l *ReadLock) IsOwnedBy(ctx context.Context) bool {
	return owns(ctx, l.recipe.id, sharedGrant)
}

// Participants returns the writers in the queue, in order.
//
// Curator: WriteLock.getParticipantNodes().
func (l *WriteLock) Participants(ctx context.Context) ([]Participant, error) {
	return l.recipe.contenders(ctx, func(n queue.Node) bool { return !n.Shared })
}

// Participants returns the readers in the queue, in order.
//
// Curator: ReadLock.getParticipantNodes().
func (l *ReadLock) Participants(ctx context.Context) ([]Participant, error) {
	return l.recipe.contenders(ctx, func(n queue.Node) bool { return n.Shared })
}
