package porting

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// ReadWriteLock is ReadWriteLock.java.
type ReadWriteLock struct {
	lock *locks.InterProcessReadWriteLock
}

// NewReadWriteLock is new ReadWriteLock.
func NewReadWriteLock(client *framework.Client) ReadWriteLock {
	return ReadWriteLock{locks.NewInterProcessReadWriteLock(client, "/locks/config", locks.WithLockData([]byte("reports at host9")))}
}

// Read is ReadWriteLock.read.
func (l ReadWriteLock) Read(ctx context.Context, work Work) error {
	return locks.Do(ctx, l.lock.ReadLock(), work)
}

// Downgrade is ReadWriteLock.downgrade.
func (l ReadWriteLock) Downgrade(ctx context.Context, write, read Work) error {
	writeLease, err := l.lock.WriteLock().Acquire(ctx)
	if err != nil {
		return err
	}
	err = write(writeLease.Context(ctx))
	if err != nil {
		return errors.Join(err, writeLease.Release())
	}
	readLease, err := l.lock.ReadLock().Acquire(writeLease.Context(ctx)) // at once: the context owns the write lock
	if err := errors.Join(err, writeLease.Release()); err != nil {
		return err
	}
	err = read(readLease.Context(ctx))
	return errors.Join(err, readLease.Release())
}

// Upgrade is ReadWriteLock.upgrade.
func (l ReadWriteLock) Upgrade(ctx context.Context) (bool, error) {
	readLease, err := l.lock.ReadLock().Acquire(ctx)
	if err != nil {
		return false, err
	}
	_, err = l.lock.WriteLock().Acquire(readLease.Context(ctx))
	if !errors.Is(err, locks.ErrUpgrade) { // at once; nothing waits
		return false, errors.Join(err, readLease.Release())
	}
	return false, readLease.Release()
}

// InQueue is ReadWriteLock.inQueue.
func (l ReadWriteLock) InQueue(ctx context.Context) (int, error) {
	readers, err := l.lock.ReadLock().Participants(ctx)
	if err != nil {
		return 0, err
	}
	writers, err := l.lock.WriteLock().Participants(ctx)
	return len(readers) + len(writers), err
}

// Guard is ReadWriteLock.guard. The lease has the check itself.
func (l ReadWriteLock) Guard(lease *locks.Lease) framework.Op {
	return lease.Check()
}
