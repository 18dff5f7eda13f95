package porting

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// SemaphoreMutex is SemaphoreMutex.java.
type SemaphoreMutex struct {
	mutex *locks.InterProcessSemaphoreMutex
}

// NewSemaphoreMutex is new SemaphoreMutex.
func NewSemaphoreMutex(client *framework.Client) SemaphoreMutex {
	return SemaphoreMutex{locks.NewInterProcessSemaphoreMutex(client, "/locks/single")}
}

// HandedOn is SemaphoreMutex.handedOn: it acquires here, and releases on another goroutine. Here every lock can do
// that.
func (m SemaphoreMutex) HandedOn(ctx context.Context, work Work) (done <-chan error, err error) {
	lease, err := m.mutex.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	released := make(chan error, 1)
	go func() {
		err := work(lease.Context(ctx))
		released <- errors.Join(err, lease.Release())
	}()
	return released, nil
}

// Twice is SemaphoreMutex.twice: also with a context of the lease, an owner that acquires it again deadlocks.
func (m SemaphoreMutex) Twice(ctx context.Context) (bool, error) {
	lease, err := m.mutex.Acquire(ctx)
	if err != nil {
		return false, err
	}
	again, err := locks.Within(m.mutex, time.Second).Acquire(lease.Context(ctx))
	if errors.Is(err, locks.ErrNotAcquired) {
		return false, lease.Release()
	}
	if err != nil {
		return false, errors.Join(err, lease.Release())
	}
	return m.mutex.IsAcquiredInThisProcess(), locks.ReleaseAll(lease, again)
}
