package vaultlock

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"
	"github.com/hashicorp/vault/sdk/physical"

	"github.com/gocurator/curator/recipes/locks"
)

// ErrHeld is the error of a Lock on a lock that this process holds, or waits for, by the same value.
var ErrHeld = errors.New("vaultlock: the lock is held already, or waited for")

// A Lock is one contender. It can be locked again after Unlock and after a loss. It is safe for concurrent use.
type Lock struct {
	ctx   context.Context //nolint:containedctx // Vault's methods have none
	mutex *locks.InterProcessMutex

	mu      sync.Mutex
	waiting bool         // a Lock is under way; guarded by mu
	lease   *locks.Lease // nil if it is not locked; guarded by mu
}

var _ physical.Lock = (*Lock)(nil)

// Lock blocks until this process holds the lock, stop is closed, or the context of [New] ends; stop may be nil. It
// returns a channel that is closed when the lock is lost, before another process can have it, and by Unlock. If stop
// was closed, both results are nil. Errors: [ErrHeld]; those of locks.InterProcessMutex.Acquire. No node is left behind
// then.
func (l *Lock) Lock(stop <-chan struct{}) (lost <-chan struct{}, err error) {
	if !l.begin() {
		return nil, ErrHeld
	}
	lease, err := l.acquire(stop)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting, l.lease = false, lease
	if lease == nil {
		return nil, err
	}
	return lease.Done(), nil
}

// Unlock releases the lock, and does nothing on one that is not locked. It waits for the servers for at most the
// client's connection timeout. The only error is a *locks.ReleaseError: the lock has ended all the same. A lock that
// was lost is no error: its channel has reported that.
func (l *Lock) Unlock() error {
	l.mu.Lock()
	lease := l.lease
	l.lease = nil
	l.mu.Unlock()
	if lease == nil {
		return nil
	}
	if err := lease.Release(); !errors.Is(err, locks.ErrLeaseLost) {
		return err
	}
	return nil
}

// Value asks the servers whether any process holds the lock, and by which value. It does not ask whether this one does:
// the channel of Lock says that. Errors are those of locks.InterProcessMutex.Participants.
func (l *Lock) Value() (held bool, value string, err error) {
	contenders, err := l.mutex.Participants(l.ctx)
	if err != nil && !errors.Is(err, zk.ErrNoNode) { // without a node, it has not been locked yet
		return false, "", err
	}
	for _, c := range contenders {
		if c.Holds {
			return true, string(c.Data), nil
		}
	}
	return false, "", nil
}

// begin notes that a Lock is under way, unless one is, or the lock is held.
func (l *Lock) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting || l.lease != nil && l.lease.Err() == nil {
		return false
	}
	l.waiting = true
	return true
}

var errStopped = errors.New("stop was closed")

// acquire returns no lease and no error if stop is closed first.
func (l *Lock) acquire(stop <-chan struct{}) (*locks.Lease, error) {
	ctx, cancel := context.WithCancelCause(l.ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(func() {
		select {
		case <-stop:
			cancel(errStopped)
		case <-ctx.Done():
		}
	})
	lease, err := l.mutex.Acquire(ctx)
	if errors.Is(err, errStopped) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("vaultlock: %w", err)
	}
	return lease, nil
}
