package porting

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// MultiLockOfPaths is MultiLock.ofPaths.
func MultiLockOfPaths(client *framework.Client) *locks.InterProcessMultiLock {
	return locks.NewInterProcessMultiLockWithPaths(client, []string{"/locks/from", "/locks/to"})
}

// MultiLockOfLocks is MultiLock.ofLocks.
func MultiLockOfLocks(client *framework.Client) *locks.InterProcessMultiLock {
	from := locks.NewInterProcessMutex(client, "/locks/from")
	to := locks.NewInterProcessSemaphoreMutex(client, "/locks/single")
	return locks.NewInterProcessMultiLock(from, to)
}

// Transfer is MultiLock.transfer.
func Transfer(ctx context.Context, both *locks.InterProcessMultiLock, work Work) (bool, error) {
	lease, err := locks.Within(both, 10*time.Second).Acquire(ctx) // for all of them together
	if errors.Is(err, locks.ErrNotAcquired) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = work(lease.Context(ctx))
	acquired := both.IsAcquiredInThisProcess()
	return acquired, errors.Join(err, lease.Release())
}
