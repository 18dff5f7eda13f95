package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// An InterProcessReadWriteLock is a pair of reentrant locks: any number of readers, or one writer. Contenders of both kinds
// stand in one queue and are let in in the order in which they came, readers that follow each other together; so neither kind
// starves the other.
//
// The writer may take the read lock as well, and keep it when it releases the write lock: nobody gets in between. A reader
// cannot take the write lock: [ErrUpgrade].
//
// Its methods are safe for concurrent use.
//
// Curator: InterProcessReadWriteLock.
type InterProcessReadWriteLock struct {
	read  ReadLock
	write WriteLock
}

// ErrUpgrade refuses the write lock to the owner of a read lock, who would wait for himself.
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

// NewInterProcessReadWriteLock returns the read/write lock at path. It does no I/O; misuse is told by the first call on either
// side. Lock data goes into the nodes of both sides; [WithLocalHandover] is for writers.
//
// Curator: new InterProcessReadWriteLock(client, path, lockData).
func NewInterProcessReadWriteLock(client *framework.Client, path string, opts ...Option) *InterProcessReadWriteLock {
	r := newRecipe(client, path, opts)
	r.queue.id.family = readWriteFamily
	read, write := r, r
	read.queue.marker, read.queue.shared = readMarker, true
	write.queue.marker = writeMarker
	return &InterProcessReadWriteLock{read: ReadLock{recipe: read}, write: WriteLock{recipe: write}}
}

// ReadLock returns the shared side.
//
// Curator: InterProcessReadWriteLock.readLock().
func (l *InterProcessReadWriteLock) ReadLock() *ReadLock { return &l.read }

// WriteLock returns the exclusive side.
//
// Curator: InterProcessReadWriteLock.writeLock().
func (l *InterProcessReadWriteLock) WriteLock() *WriteLock { return &l.write }

// Acquire waits for the write lock, as [InterProcessMutex.Acquire] does. With a context that owns the write lock it re-enters;
// with one that owns the read lock alone it fails at once with [ErrUpgrade].
//
// Curator: WriteLock.acquire().
func (l *WriteLock) Acquire(ctx context.Context) (*Lease, error) {
	return l.recipe.acquire(ctx, l.reenter, l.recipe.queue.acquire)
}

// TryAcquire returns a Lease if nobody else holds either side or waits for it, and [ErrNotAcquired] otherwise. It costs one read
// on a lock that is taken.
//
// Curator: WriteLock.acquire(0, unit).
func (l *WriteLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return l.recipe.acquire(ctx, l.reenter, l.recipe.queue.try)
}

func (l *WriteLock) reenter(ctx context.Context) (*Lease, error) {
	innermost, err := reenter(ctx, l.recipe.queue.id)
	if innermost == nil || err != nil {
		return nil, err
	}
	if write := findLasting(ctx, l.recipe.queue.id, func(g *grant) bool { return !g.shared }); write != nil {
		return write, nil
	}
	return nil, ErrUpgrade
}

// Acquire waits for the read lock, as [InterProcessMutex.Acquire] does, but for writers that came before only. With a context
// that owns the read lock it re-enters.
//
// With a context that owns the write lock it returns without waiting: this is how a writer becomes a reader. The lease has a
// node of its own, which takes the writer's place in the queue, so that it stays when the write lock is released and no other
// writer slips in. If the write lock is lost in the meantime, the read lock is refused with [ErrLeaseLost]. Its fencing token is
// the writer's.
//
// Curator: ReadLock.acquire().
func (l *ReadLock) Acquire(ctx context.Context) (*Lease, error) {
	return l.recipe.acquire(ctx, l.reenter, l.contend(ctx, l.recipe.queue.acquire))
}

// TryAcquire returns a Lease if no writer holds the lock or waits for it, and [ErrNotAcquired] otherwise.
//
// Curator: ReadLock.acquire(0, unit).
func (l *ReadLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return l.recipe.acquire(ctx, l.reenter, l.contend(ctx, l.recipe.queue.try))
}

// reenter re-enters a read lease, also from a write lease that was re-entered within it. A write lease alone makes no re-entry,
// but a nested node: see contend.
func (l *ReadLock) reenter(ctx context.Context) (*Lease, error) {
	innermost, err := reenter(ctx, l.recipe.queue.id)
	if innermost == nil || err != nil {
		return nil, err
	}
	return findLasting(ctx, l.recipe.queue.id, func(g *grant) bool { return g.shared }), nil
}

// contend queues, unless ctx owns the write lock.
func (l *ReadLock) contend(ctx context.Context, queue contention) contention {
	write := find(ctx, l.recipe.queue.id, func(*grant) bool { return true })
	if write == nil || write.grant.shared {
		return queue
	}
	return func(ctx context.Context) ([]*grant, place, error) {
		g, err := l.nest(ctx, write)
		return []*grant{g}, place{}, err
	}
}

// nest makes a reader of the writer. Its node has the number of the writer's, so that it stands where the writer stood: before
// every writer that queued later. The server makes it only while the writer's node is there, in one transaction; and the
// writer's node is kept, by a lease of its own, until the answer has come, also if the caller releases it meanwhile. Otherwise
// the next writer could be admitted between the two.
func (l *ReadLock) nest(ctx context.Context, write *Lease) (*grant, error) {
	keep, err := write.grant.join()
	if err != nil {
		return nil, err
	}
	defer keep.quit()
	w, q := write.grant, &l.recipe.queue
	w.nested.Store(true) // before keep is given back: the writer's node must go with its owner, and not be handed over
	_, number, ok := cutNumber(w.name)
	if !ok {
		return nil, fmt.Errorf("locks: node %s has no number", w.name)
	}
	path, err := w.session.EnterBeside(ctx, w.node, q.dir, fmt.Sprintf("%s%010d", readMarker, number), q.opts.data)
	if errors.Is(err, zk.ErrNoNode) {
		w.lose(ErrRemoved)
		return nil, w.err()
	}
	if err != nil {
		return nil, w.errOr(err)
	}
	c := q.contender(w.session, path, w.token)
	c.count = w.count
	defer c.leave()
	err = c.admit()
	switch {
	case errors.Is(err, errRequeue):
		err = &LostError{Path: q.path, Session: w.session.ID(), Reason: ErrRemoved}
	case err == nil && c.grant == nil:
		err = framework.ErrLapsed
	}
	if err != nil {
		return nil, w.errOr(err)
	}
	return c.grant, nil
}

// IsAcquiredInThisProcess reports whether anybody holds the write lock through the same client.
//
// Curator: WriteLock.isAcquiredInThisProcess().
func (l *WriteLock) IsAcquiredInThisProcess() bool {
	return held.any(l.recipe.queue.id, func(g *grant) bool { return !g.shared })
}

// IsAcquiredInThisProcess reports whether anybody holds the read lock through the same client.
//
// Curator: ReadLock.isAcquiredInThisProcess().
func (l *ReadLock) IsAcquiredInThisProcess() bool {
	return held.any(l.recipe.queue.id, func(g *grant) bool { return g.shared })
}

// IsOwnedBy reports whether ctx owns a lease on the write lock that has not ended.
//
// Curator: WriteLock.isOwnedByCurrentThread().
func (l *WriteLock) IsOwnedBy(ctx context.Context) bool {
	return owns(ctx, l.recipe.queue.id, func(g *grant) bool { return !g.shared })
}

// IsOwnedBy reports whether ctx owns a lease on the read lock that has not ended.
//
// Curator: ReadLock.isOwnedByCurrentThread().
func (l *ReadLock) IsOwnedBy(ctx context.Context) bool {
	return owns(ctx, l.recipe.queue.id, func(g *grant) bool { return g.shared })
}

// Participants returns the writers in the queue, in its order.
//
// Curator: WriteLock.getParticipantNodes().
func (l *WriteLock) Participants(ctx context.Context) ([]Participant, error) {
	return l.recipe.contenders(ctx, func(n node) bool { return !n.shared })
}

// Participants returns the readers in the queue, in its order.
//
// Curator: ReadLock.getParticipantNodes().
func (l *ReadLock) Participants(ctx context.Context) ([]Participant, error) {
	return l.recipe.contenders(ctx, func(n node) bool { return n.shared })
}
