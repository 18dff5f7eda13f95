package porting

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
)

// Semaphore is Semaphore.java.
type Semaphore struct {
	semaphore *locks.InterProcessSemaphoreV2
}

// NewSemaphore is new Semaphore.
func NewSemaphore(client *framework.Client) Semaphore {
	return Semaphore{locks.NewInterProcessSemaphoreV2(client, "/locks/pool", 3, locks.WithLockData([]byte("reports at host9")))}
}

// NewSemaphoreWithCount is new Semaphore with a shared count, which must have been started.
func NewSemaphoreWithCount(client *framework.Client, limit *shared.SharedCount) Semaphore {
	return Semaphore{locks.NewInterProcessSemaphoreV2WithCount(client, "/locks/pool", limit)}
}

// One is Semaphore.one.
func (s Semaphore) One(ctx context.Context) (string, error) {
	lease, err := s.semaphore.Acquire(ctx)
	if err != nil {
		return "", err
	}
	data, err := lease.Data(ctx)
	return lease.NodeName() + " " + string(data), errors.Join(err, lease.Release())
}

// OneForTenSeconds is Semaphore.oneForTenSeconds.
func (s Semaphore) OneForTenSeconds(ctx context.Context) (bool, error) {
	lease, err := locks.Within(s.semaphore, 10*time.Second).Acquire(ctx)
	if errors.Is(err, locks.ErrNotAcquired) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, lease.Release()
}

// Two is Semaphore.two.
func (s Semaphore) Two(ctx context.Context) (int, error) {
	leases, err := s.semaphore.AcquireN(ctx, 2) // both or none
	if err != nil {
		return 0, err
	}
	inUse, err := s.semaphore.Participants(ctx)
	return len(inUse), errors.Join(err, locks.ReleaseAll(leases...))
}

// TwoIfFree is Semaphore.twoIfFree.
func (s Semaphore) TwoIfFree(ctx context.Context) (bool, error) {
	leases, err := s.semaphore.TryAcquireN(ctx, 2)
	if errors.Is(err, locks.ErrNotAcquired) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, locks.ReleaseAll(leases...)
}
