package locks

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// A try passes the gate like an acquire. Contenders hold it for a moment before and after they get their leases, which
// must not fail a try. One that waits for leases also holds the gate, but its node exceeds the limit. Hence a try waits
// at the gate while the nodes of leases leave room for its own.

// passGate waits until gate is first in its queue, or fewer than n leases are free: ErrNotAcquired.
func (s *InterProcessSemaphoreV2) passGate(ctx context.Context, gate *queue.Contender, n int) error {
	t, err := gate.NextDecision(ctx)
	if err != nil || t.Admitted {
		return err
	}
	leases := gate.Session.WatchChildrenPersistent(s.recipe.queue.Config.Dir, gate.Waiter.Signal)
	defer leases.Stop()
	gate.GiveUp = func() bool { return s.leases(leases.View().Children)+n > s.limit.now() }
	for !t.Admitted {
		if t, err = gate.Await(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// TryAcquire returns a lease if one is free and no other contender waits for it, and [ErrNotAcquired] otherwise. If
// none is free it costs one read and writes nothing.
//
// It blocks like [InterProcessMutex.TryAcquire]. While enough leases are free, it waits for contenders that are about
// to get theirs, or just have.
//
// Curator: InterProcessSemaphoreV2.acquire(0, unit).
func (s *InterProcessSemaphoreV2) TryAcquire(ctx context.Context) (*Lease, error) {
	leases, err := s.TryAcquireN(ctx, 1)
	if err != nil {
		return nil, err
	}
	return leases[0], nil
}

// TryAcquireN is TryAcquire of n leases.
//
// Curator: InterProcessSemaphoreV2.acquire(qty, 0, unit).
func (s *InterProcessSemaphoreV2) TryAcquireN(ctx context.Context, n int) ([]*Lease, error) {
	return limitTry(ctx, &s.recipe, func(ctx context.Context) ([]*Lease, error) {
		return s.acquireN(ctx, n, func(ctx context.Context) ([]*queue.Grant, queue.Progress, error) { return s.try(ctx, n) })
	})
}

// try tries again in the next session if one ends before the answers.
func (s *InterProcessSemaphoreV2) try(ctx context.Context, n int) ([]*queue.Grant, queue.Progress, error) {
	return queue.AcrossSessions(ctx, s.gate.Config.Source, func(session framework.Session) ([]*queue.Grant, queue.Progress, error) {
		return s.tryInSession(ctx, session, n)
	})
}

func (s *InterProcessSemaphoreV2) tryInSession(ctx context.Context, session framework.Session, n int) ([]*queue.Grant, queue.Progress, error) {
	children, err := s.recipe.queue.List(ctx, session)
	if err != nil {
		return nil, queue.Progress{}, err
	}
	if err := s.limit.confirm(ctx); err != nil {
		return nil, queue.Progress{}, err
	}
	if s.leases(children)+n > s.limit.now() {
		return nil, queue.Progress{}, ErrNotAcquired
	}
	gate, err := s.enterGate(ctx, session)
	if err != nil {
		return nil, queue.Progress{}, err
	}
	defer gate.Leave()
	if err := s.passGate(ctx, gate, n); err != nil {
		return nil, gate.Progress, orNotAcquired(err)
	}
	b := batch{semaphore: s, session: session, gate: gate}
	defer b.leave()
	for range n {
		if err := b.add(ctx); err != nil {
			return nil, b.progress(), err
		}
	}
	if permitted, err := b.permitted(ctx); err != nil || !permitted {
		return nil, b.progress(), orNotAcquired(err)
	}
	grants, err := b.admit(ctx, func(ctx context.Context) error {
		if permitted, err := b.permitted(ctx); err != nil || !permitted {
			return orNotAcquired(err)
		}
		return nil
	})
	if err != nil {
		return nil, b.progress(), orNotAcquired(err)
	}
	return grants, b.progress(), nil
}

// orNotAcquired is ErrNotAcquired if a contender was ahead of a try, or its node was removed.
func orNotAcquired(err error) error {
	if err == nil || errors.Is(err, session.ErrNodeDeleted) {
		return ErrNotAcquired
	}
	return err
}
