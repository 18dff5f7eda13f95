package locks_test

import (
	"context"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A heedless lock does something before each acquire, which the end of a context does not end.
type heedless struct {
	locks.Lock
	before func()
}

func (h heedless) Acquire(ctx context.Context) (*locks.Lease, error) {
	h.before()
	return h.Lock.Acquire(context.WithoutCancel(ctx))
}

func TestMultiLockLooksAtItsPartsWhenItHasTheLast(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, acquires := newPeer(t, server), 0
		lastPart := heedless{locks.NewInterProcessMutex(p.Client, "/b"), func() {
			if acquires++; acquires == 1 {
				settle()
				remove(t, server, ownNode(t, server, p, "/a"))
			}
		}}
		lease := acquire(t, locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(p.Client, "/a"), lastPart))
		if lease.Err() != nil || acquires != 2 {
			t.Errorf("got a lease that ended with %v after %d acquires, want a whole one after 2", lease.Err(), acquires)
		}
		release(t, lease)
	})
}
