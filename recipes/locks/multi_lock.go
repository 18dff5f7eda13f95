package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/setup"
	"github.com/gocurator/curator/retry"
)

// An InterProcessMultiLock takes several locks, of any kinds, as one, in their order. Multi-locks with locks in common
// must name those in the same order, or they can deadlock. Its methods are safe for concurrent use.
//
// Curator: InterProcessMultiLock.
type InterProcessMultiLock struct {
	locks []Lock
	err   error // misuse
}

var _ Lock = (*InterProcessMultiLock)(nil)

// NewInterProcessMultiLock returns a lock that is held when all locks are. The first call refuses two locks on one
// path.
//
// Curator: new InterProcessMultiLock(List<InterProcessLock>).
func NewInterProcessMultiLock(locks ...Lock) *InterProcessMultiLock {
	m := &InterProcessMultiLock{locks: locks}
	var problems setup.Problems
	problems.Refuse(len(locks) == 0, "locks: a multi-lock needs at least one lock")
	seen := map[identity]bool{}
	for _, lock := range locks {
		problems.Refuse(untimed(lock) == nil, "locks: a lock of a multi-lock is nil")
		for _, id := range identities(lock) {
			id.family = "" // several families at one path may exclude each other
			if seen[id] {
				problems = append(problems, fmt.Errorf("locks: multi-lock has %q twice", id.path))
			}
			seen[id] = true
		}
	}
	m.err = session.JoinErrors(problems...)
	return m
}

// NewInterProcessMultiLockWithPaths returns a multi-lock of an [InterProcessMutex] for each path.
//
// Curator: new InterProcessMultiLock(client, paths).
func NewInterProcessMultiLockWithPaths(client *framework.Client, paths []string, opts ...Option) *InterProcessMultiLock {
	locks := make([]Lock, len(paths))
	for i, path := range paths {
		locks[i] = NewInterProcessMutex(client, path, opts...)
	}
	return NewInterProcessMultiLock(locks...)
}

type identified interface{ identities() []identity }

func identities(lock Lock) []identity {
	if l, ok := untimed(lock).(identified); ok {
		return l.identities()
	}
	return nil
}

func (m *InterProcessMultiLock) identities() []identity {
	var all []identity
	for _, part := range m.locks {
		all = append(all, identities(part)...)
	}
	return all
}

// Acquire acquires the locks one after the other; ctx bounds the whole. At the first failure it releases those that it
// has, the last one first. If it loses one while it waits for another, it releases the others and begins again. The
// lease is lost with any part. A context from it owns all parts, and re-enters the reentrant ones.
//
// Errors: that of the lock that failed, joined with those of failed releases.
//
// Curator: InterProcessMultiLock.acquire().
func (m *InterProcessMultiLock) Acquire(ctx context.Context) (*Lease, error) {
	var pace retry.Pace
	for begun := false; ; begun = true {
		began := time.Now()
		lease, err := m.acquire(ctx, Lock.Acquire)
		switch {
		case errors.Is(err, errPartLost):
		case begun && session.Outage(err) && ctx.Err() == nil: // it was in the queue: it waits on
		default:
			return lease, err
		}
		if ended := pace.Wait(ctx, time.Since(began)); ended != nil {
			return nil, ended
		}
	}
}

// TryAcquire is Acquire without waiting for other holders: [ErrNotAcquired] if any lock is taken. It waits for the
// servers, for all locks together, for at most the longest of their clients' connection timeouts.
//
// Curator: InterProcessMultiLock.acquire(0, unit).
func (m *InterProcessMultiLock) TryAcquire(ctx context.Context) (*Lease, error) {
	slowest := time.Duration(0)
	for _, lock := range m.locks {
		for _, id := range identities(lock) {
			if id.client != nil {
				slowest = max(slowest, id.client.ConnectionTimeout())
			}
		}
	}
	try := func(ctx context.Context) (*Lease, error) { return m.acquire(ctx, Lock.TryAcquire) }
	if slowest == 0 { // misuse, or no lock of this package
		return try(ctx)
	}
	return limited(ctx, &timeLimit{after: slowest, try: true}, try)
}

var errPartLost = errors.New("locks: a part of the multi-lock was lost meanwhile")

func (m *InterProcessMultiLock) acquire(
	ctx context.Context, acquire func(Lock, context.Context) (*Lease, error),
) (whole *Lease, err error) {
	switch {
	case m.err != nil:
		return nil, m.err
	case len(m.locks) == 0:
		return nil, fmt.Errorf("locks: acquire a multi-lock: %w", errNotMade)
	}
	lease := newLease(nil, nil)
	defer func() {
		if whole == nil { // also after a panic of a user's lock, ACL provider or trace
			err = session.JoinErrors(err, releaseAll(ctx.Done(), lease.parts...))
		}
	}()
	waiting, stop := context.WithCancelCause(ctx) // ends with any part, too
	defer stop(nil)
	for _, lock := range m.locks {
		part, err := acquire(lock, waiting)
		if err != nil {
			ended := errors.Is(err, ErrLeaseLost) || waiting.Err() != nil && errors.Is(err, waiting.Err())
			if lost := lease.Err(); ended && lost != nil && ctx.Err() == nil {
				err = fmt.Errorf("%w: %w", errPartLost, lost)
			} else if ended && lost != nil {
				// Both at one time: the caller's own context counts.
				err = fmt.Errorf("locks: acquire a multi-lock: %w", retry.ContextError(ctx))
			}
			return nil, err
		}
		lease.parts = append(lease.parts, part)
		part.follow(follower{end: lease.end})
		part.follow(follower{ctx: waiting, end: stop})
	}
	if lost := lease.Err(); lost != nil {
		return nil, session.JoinErrors(errPartLost, lost)
	}
	for _, part := range lease.parts {
		part.inform(lease.leaseState)
	}
	return lease, nil
}

func (l *leaseState) inform(other *leaseState) {
	l.mu.Lock()
	l.revoked.others = append(l.revoked.others, other)
	done := l.revoked.done
	l.mu.Unlock()
	if done {
		other.request()
	}
}

// IsAcquiredInThisProcess reports whether each lock is held through its client.
//
// Curator: InterProcessMultiLock.isAcquiredInThisProcess().
func (m *InterProcessMultiLock) IsAcquiredInThisProcess() bool {
	for _, lock := range m.locks {
		l, ok := untimed(lock).(interface{ IsAcquiredInThisProcess() bool })
		if !ok || !l.IsAcquiredInThisProcess() {
			return false
		}
	}
	return len(m.locks) > 0
}
