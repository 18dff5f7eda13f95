package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
)

// An InterProcessMultiLock takes several locks, of any kinds, as one. They are acquired in their order, so two of them that
// have locks in common must name those in the same order, or they can wait for each other.
//
// Its methods are safe for concurrent use.
//
// Curator: InterProcessMultiLock.
type InterProcessMultiLock struct {
	locks []Lock
	err   error // misuse of the constructor
}

var _ Lock = (*InterProcessMultiLock)(nil)

// NewInterProcessMultiLock returns a lock that is held when all locks are. One lock, or two on the same path, cannot be named
// twice: the first call says so.
//
// Curator: new InterProcessMultiLock(List<InterProcessLock>).
func NewInterProcessMultiLock(locks ...Lock) *InterProcessMultiLock {
	m := &InterProcessMultiLock{locks: locks}
	var problems []error
	if len(locks) == 0 {
		problems = append(problems, errors.New("locks: a multi-lock needs at least one lock"))
	}
	seen := map[identity]bool{}
	for _, lock := range locks {
		if lock == nil {
			problems = append(problems, errors.New("locks: a lock of a multi-lock is nil"))
			continue
		}
		for _, id := range identities(lock) {
			id.family = "" // locks of several families at one path may exclude each other
			if seen[id] {
				problems = append(problems, fmt.Errorf("locks: multi-lock has %q twice", id.path))
			}
			seen[id] = true
		}
	}
	m.err = errors.Join(problems...)
	return m
}

// NewInterProcessMultiMutex returns a multi-lock of one [InterProcessMutex] for each path.
//
// Curator: new InterProcessMultiLock(client, paths).
func NewInterProcessMultiMutex(client *framework.Client, paths []string, opts ...Option) *InterProcessMultiLock {
	locks := make([]Lock, len(paths))
	for i, path := range paths {
		locks[i] = NewInterProcessMutex(client, path, opts...)
	}
	return NewInterProcessMultiLock(locks...)
}

// identities returns the locks of this package that a Lock is made of.
func identities(lock Lock) []identity {
	switch l := lock.(type) {
	case *InterProcessMutex:
		return []identity{l.recipe.queue.id}
	case *ReadLock:
		return []identity{l.recipe.queue.id}
	case *WriteLock:
		return []identity{l.recipe.queue.id}
	case *InterProcessSemaphoreV2:
		return []identity{l.recipe.queue.id}
	case *InterProcessSemaphoreMutex:
		return []identity{l.semaphore.recipe.queue.id}
	case *InterProcessMultiLock:
		var all []identity
		for _, part := range l.locks {
			all = append(all, identities(part)...)
		}
		return all
	default:
		return nil
	}
}

// Acquire acquires the locks one after the other; ctx is the one bound for all. With the first that fails it stops, and releases
// those that it has, the last one first. If one that it has is lost while it waits for another, it releases the others and begins
// again. The lease is lost when any of its parts is. A context from it owns all parts, and re-enters those that are reentrant.
//
// Errors: that of the lock that failed, joined with those of releases that failed.
//
// Curator: InterProcessMultiLock.acquire().
func (m *InterProcessMultiLock) Acquire(ctx context.Context) (*Lease, error) {
	for begun := false; ; begun = true {
		lease, err := m.acquire(ctx, Lock.Acquire)
		var unreachable *framework.ConnectError
		switch {
		case errors.Is(err, errPartLost):
		case begun && errors.As(err, &unreachable) && ctx.Err() == nil: // whoever was in the queue before waits on
		default:
			return lease, err
		}
	}
}

// TryAcquire is Acquire without waiting for other holders: [ErrNotAcquired] if any lock is taken.
//
// Curator: InterProcessMultiLock.acquire(0, unit).
func (m *InterProcessMultiLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return m.acquire(ctx, Lock.TryAcquire)
}

// errPartLost says that a lease was lost while its owner waited for another.
var errPartLost = errors.New("locks: a part of the multi-lock was lost meanwhile")

func (m *InterProcessMultiLock) acquire(ctx context.Context, acquire func(Lock, context.Context) (*Lease, error)) (*Lease, error) {
	if m.err != nil {
		return nil, m.err
	}
	lease := newLease(nil)
	waiting, stop := context.WithCancelCause(ctx) // ends also with any of the parts
	defer stop(nil)
	for _, lock := range m.locks {
		part, err := acquire(lock, waiting)
		if err != nil {
			if lost := lease.Err(); lost != nil && (errors.Is(err, ErrLeaseLost) || errors.Is(err, context.Canceled)) {
				err = fmt.Errorf("%w: %w", errPartLost, lost)
			}
			return nil, errors.Join(err, ReleaseAll(lease.parts...))
		}
		lease.parts = append(lease.parts, part)
		part.follow(lease.end)
		defer part.follow(stop)() //nolint:gocritic // they are as many as the parts, and end together
	}
	if lost := lease.Err(); lost != nil {
		return nil, errors.Join(errPartLost, lost, ReleaseAll(lease.parts...))
	}
	for _, part := range lease.parts {
		part.inform(lease)
	}
	return lease, nil
}

// inform lets another lease hear of a revocation of this one.
func (l *Lease) inform(other *Lease) {
	l.mu.Lock()
	l.revoked.others = append(l.revoked.others, other)
	done := l.revoked.done
	l.mu.Unlock()
	if done {
		other.request()
	}
}

// IsAcquiredInThisProcess reports whether anybody holds every one of the locks through the same client.
//
// Curator: InterProcessMultiLock.isAcquiredInThisProcess().
func (m *InterProcessMultiLock) IsAcquiredInThisProcess() bool {
	for _, lock := range m.locks {
		l, ok := lock.(interface{ IsAcquiredInThisProcess() bool })
		if !ok || !l.IsAcquiredInThisProcess() {
			return false
		}
	}
	return len(m.locks) > 0
}
