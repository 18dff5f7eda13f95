package counters

import (
	"context"

	"github.com/gocurator/curator/recipes/locks"
)

// A place is that of one Add in the queue of those that have lost races.
type place struct {
	mutex *locks.InterProcessMutex
	lease *locks.Lease // nil outside of the queue
}

func (p *place) held() bool { return p.lease != nil && p.lease.Err() == nil }

// enter waits for the lock. A lease that was lost is given up first.
func (p *place) enter(ctx context.Context) (err error) {
	p.leave()
	p.lease, err = p.mutex.Acquire(ctx)
	return err
}

// leave releases the lock, if it is held. If that fails, the servers remove the lock's node by and by: an Add that has
// counted does not fail by it.
func (p *place) leave() {
	if p.lease != nil {
		_ = p.lease.Release()
	}
}
