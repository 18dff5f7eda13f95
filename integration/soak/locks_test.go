//go:build linux

package soak_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

// A while is how long locks are held, at most.
const while = 10 * time.Millisecond

func work(ctx context.Context) error {
	pause(ctx, rand.N(while)+1)
	return nil
}

// locks are the actors of a client that have locks.
func (h *home) locks() []*actor {
	c := h.client
	mutex := locks.NewInterProcessMutex(c, "/soak/mutex")
	readWrite := locks.NewInterProcessReadWriteLock(c, "/soak/rw")
	semaphore := locks.NewInterProcessSemaphoreV2WithCount(c, "/soak/semaphore", h.limit)
	retained := locks.NewInterProcessMutex(c, "/soak/retained").Retained(locks.RetainIdle(5 * while))
	several := locks.NewInterProcessMultiLockWithPaths(c, []string{"/soak/several/a", "/soak/several/b"})
	single := locks.NewInterProcessSemaphoreMutex(c, "/soak/single")
	return []*actor{
		{name: "mutex, re-entered", step: func(ctx context.Context) error {
			return locks.Do(ctx, mutex, func(ctx context.Context) error { return locks.Do(ctx, mutex, work) })
		}},
		{name: "mutex, tried", step: func(ctx context.Context) error { return try(ctx, mutex) }},
		{name: "mutex, with a time limit", step: func(ctx context.Context) error {
			return unlessTaken(locks.Do(ctx, locks.Within(mutex, rand.N(while)+1), work))
		}},
		{name: "mutex, given up", step: func(ctx context.Context) error { return giveUp(ctx, mutex) }},
		{name: "mutex, contended and revoked", step: h.revoke},
		{name: "read lock", step: func(ctx context.Context) error { return locks.Do(ctx, readWrite.ReadLock(), work) }},
		{name: "write lock, downgraded", step: func(ctx context.Context) error { return downgrade(ctx, readWrite) }},
		{name: "write lock, given up", step: func(ctx context.Context) error { return giveUp(ctx, readWrite.WriteLock()) }},
		{name: "semaphore", step: func(ctx context.Context) error {
			leases, err := semaphore.AcquireN(ctx, 1+rand.IntN(2))
			if err != nil {
				return err
			}
			return errors.Join(work(ctx), locks.ReleaseAll(leases...))
		}},
		{name: "semaphore, tried", step: func(ctx context.Context) error { return try(ctx, semaphore) }},
		{name: "semaphore, limit changed", step: func(ctx context.Context) error { return h.limit.SetCount(ctx, 2+rand.Int32N(3)) }},
		{name: "semaphore mutex, given up", step: func(ctx context.Context) error { return giveUp(ctx, single) }},
		{name: "retained mutex", step: func(ctx context.Context) error {
			return errors.Join(locks.Do(ctx, retained, work), locks.Do(ctx, retained, work))
		}},
		{name: "multi-lock", step: func(ctx context.Context) error { return locks.Do(ctx, several, work) }},
	}
}

func unlessTaken(err error) error {
	if errors.Is(err, locks.ErrNotAcquired) {
		return nil
	}
	return err
}

func try(ctx context.Context, lock interface {
	TryAcquire(ctx context.Context) (*locks.Lease, error)
},
) error {
	lease, err := lock.TryAcquire(ctx)
	if err != nil {
		return unlessTaken(err)
	}
	return lease.Release()
}

// giveUp holds a lock while an acquire waits for it until its time is up.
func giveUp(ctx context.Context, lock locks.Lock) error {
	lease, err := lock.Acquire(ctx)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, rand.N(while))
	defer cancel()
	second, err := lock.Acquire(waiting)
	if err == nil { // the first was lost meanwhile
		err = second.Release()
	} else if waiting.Err() != nil {
		err = nil
	}
	return errors.Join(err, lease.Release())
}

func downgrade(ctx context.Context, lock *locks.InterProcessReadWriteLock) error {
	writer, err := lock.WriteLock().Acquire(ctx)
	if err != nil {
		return err
	}
	reader, err := lock.ReadLock().Acquire(writer.Context(ctx))
	if err = errors.Join(err, writer.Release()); reader != nil {
		err = errors.Join(err, work(ctx), reader.Release())
	}
	return err
}

// revoke holds a mutex whose participants ask each other to leave.
func (h *home) revoke(ctx context.Context) error {
	mutex := locks.NewInterProcessMutex(h.client, "/soak/revoked")
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	contended := lease.Contended()
	err = locks.AttemptRevoke(ctx, h.client, "/soak/revoked/"+lease.NodeName())
	select {
	case <-lease.RevocationRequested():
	case <-lease.Done():
	case <-ctx.Done():
		err = errors.Join(err, ctx.Err())
	}
	select {
	case <-contended:
	case <-time.After(while):
	}
	return errors.Join(err, lease.Release())
}
