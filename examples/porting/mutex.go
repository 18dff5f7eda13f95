package porting

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Work is what a lock protects. Its context ends when the lock is lost; a Runnable never hears of it.
type Work func(ctx context.Context) error

// Mutex is Mutex.java.
type Mutex struct{ mutex *locks.InterProcessMutex }

// NewMutex is new Mutex.
func NewMutex(client *framework.Client) Mutex {
	return Mutex{locks.NewInterProcessMutex(client, "/locks/nightly")}
}

// UntilFree is Mutex.untilFree.
func (m Mutex) UntilFree(ctx context.Context, work Work) error {
	lease, err := m.mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	err = work(lease.Context(ctx))
	return errors.Join(err, lease.Release())
}

// ForTenSeconds is Mutex.forTenSeconds.
func (m Mutex) ForTenSeconds(ctx context.Context, work Work) (bool, error) {
	lease, err := locks.Within(m.mutex, 10*time.Second).Acquire(ctx) // bounds the wait, not the work
	if errors.Is(err, locks.ErrNotAcquired) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = work(lease.Context(ctx))
	return true, errors.Join(err, lease.Release())
}

// IfFree is Mutex.ifFree.
func (m Mutex) IfFree(ctx context.Context, work Work) (bool, error) {
	lease, err := m.mutex.TryAcquire(ctx)
	if errors.Is(err, locks.ErrNotAcquired) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = work(lease.Context(ctx))
	return true, errors.Join(err, lease.Release())
}

// Locker is Mutex.locker.
func (m Mutex) Locker(ctx context.Context, work Work) error {
	return locks.Do(ctx, locks.Within(m.mutex, 10*time.Second), work)
}

// Twice is Mutex.twice.
func (m Mutex) Twice(ctx context.Context, work Work) error {
	return locks.Do(ctx, m.mutex, func(ctx context.Context) error {
		return locks.Do(ctx, m.mutex, work) // the lease's context: re-enters
	})
}

// Look is Mutex.look.
func (m Mutex) Look(ctx context.Context) ([]string, error) {
	if m.mutex.IsAcquiredInThisProcess() || m.mutex.IsOwnedBy(ctx) {
		return nil, errors.New("the mutex is not held")
	}
	participants, err := m.mutex.Participants(ctx)
	return paths(participants), err
}

func paths(participants []locks.Participant) (all []string) {
	for _, p := range participants {
		all = append(all, p.Path)
	}
	return all
}
