package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// An InterProcessMutex is a reentrant lock that at most one owner in all processes holds. It admits owners in the order
// in which they came, unless a [RetainedLock] lets those of one client take turns. It is safe for concurrent use.
//
// Curator: InterProcessMutex.
type InterProcessMutex struct{ recipe recipe }

var _ Lock = (*InterProcessMutex)(nil)

// NewInterProcessMutex returns the mutex at path, below which nothing else belongs. It does no I/O. The first call on
// the mutex reports a nil client, an invalid path or a wrong option.
//
// Curator: new InterProcessMutex(client, path).
func NewInterProcessMutex(client *framework.Client, path string, opts ...Option) *InterProcessMutex {
	return &InterProcessMutex{recipe: newRecipe(client, path, opts, kind{family: mutexFamily, marker: queue.MutexMarker})}
}

// Acquire waits for the mutex and returns a Lease on it.
//
// It blocks until every earlier contender has left, or ctx is done, and waits outages out (G10). ctx bounds the wait,
// not the lease. A context from Lease.Context of this mutex re-enters without waiting or I/O.
//
// Errors are [*AcquireError]s that unwrap to: ctx's cause and ctx.Err(); framework.ErrClosed; a *framework.ConnectError
// without a connection; [ErrLeaseLost] or [ErrReleased] if ctx owns a lease that has ended; [ErrCounterExhausted];
// [ErrOtherRecipe]; the server's answer (zk.ErrNoAuth, …) or a *framework.DisconnectError; framework.ErrInvalidPath and
// other misuse. No node is left behind (G5). Without DELETE permission below path it stays until the permission comes
// back or the session is over, and the client logs that at Warn.
//
// Curator: InterProcessMutex.acquire(); acquire(time, unit) is Acquire of [Within].
func (m *InterProcessMutex) Acquire(ctx context.Context) (*Lease, error) {
	return m.recipe.acquire(ctx, m.recipe.reenter, m.recipe.queue.Acquire)
}

// TryAcquire returns a Lease if no other contender holds the mutex or waits for it, and [ErrNotAcquired] otherwise. On
// a taken mutex it costs one read and writes nothing.
//
// It blocks until the servers have answered, for at most the client's connection timeout. Then the error is a
// *framework.ConnectError without a connection, and otherwise framework.ErrConnectionLost, but never ErrNotAcquired,
// which only servers can tell. Otherwise it is like Acquire.
//
// Curator: InterProcessMutex.acquire(0, unit).
func (m *InterProcessMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return m.recipe.try(ctx, m.recipe.reenter, m.recipe.queue.Try)
}

func (m *InterProcessMutex) identities() []identity { return m.recipe.identities() }

// IsAcquiredInThisProcess reports whether this client holds the mutex. It does no I/O, and is false after a loss.
//
// Curator: InterProcessMutex.isAcquiredInThisProcess().
func (m *InterProcessMutex) IsAcquiredInThisProcess() bool { return m.recipe.isHeld(anyGrant) }

// IsOwnedBy reports whether ctx owns a lease on this mutex that lasts, so that Acquire would re-enter. It does no I/O.
//
// Curator: InterProcessMutex.isOwnedByCurrentThread().
func (m *InterProcessMutex) IsOwnedBy(ctx context.Context) bool {
	return owns(ctx, m.recipe.id, anyGrant)
}

// Participants returns the contenders in the queue, the holder first. It blocks and fails like every operation of
// package framework: with zk.ErrNoNode if path does not exist, since the servers remove an unused lock's.
//
// Curator: InterProcessMutex.getParticipantNodes().
func (m *InterProcessMutex) Participants(ctx context.Context) ([]Participant, error) {
	return m.recipe.contenders(ctx, func(queue.Node) bool { return true })
}
