package certmagiclock

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// A Storage is another one, with other locks. Its methods are safe for concurrent use if the other one's are.
type Storage struct {
	certmagic.Storage
	client *framework.Client
	path   string
	opts   []locks.Option

	mu   sync.Mutex
	held map[string]*hold // by name, from the beginning of a Lock to the end of its Unlock; guarded by mu
}

var (
	_ certmagic.Storage          = (*Storage)(nil)
	_ certmagic.TryLocker        = (*Storage)(nil)
	_ certmagic.LockLeaseRenewer = (*Storage)(nil)
)

// A hold is a name that this process has locked, or is about to.
type hold struct {
	lease *locks.Lease  // nil before it is granted, and from the beginning of Unlock; guarded by the storage's mu
	ended chan struct{} // closed when the next contender of this process may begin
}

// New returns storage with locks that are mutexes below path, each named after its lock. It does no I/O.
func New(storage certmagic.Storage, client *framework.Client, path string, opts ...locks.Option) *Storage {
	return &Storage{Storage: storage, client: client, path: path, opts: opts, held: map[string]*hold{}}
}

// Lock waits for the lock until ctx ends. Errors are the end of ctx and those of locks.InterProcessMutex.Acquire.
func (s *Storage) Lock(ctx context.Context, name string) error {
	for {
		h, first := s.reserve(name)
		if first {
			lease, err := s.mutex(name).Acquire(locks.WithoutLease(ctx))
			return s.granted(name, h, lease, err)
		}
		select {
		case <-h.ended:
		case <-ctx.Done():
			return fmt.Errorf("lock %q: another goroutine has it: %w", name, context.Cause(ctx))
		}
	}
}

// TryLock takes the lock if it is free, and does not wait for another holder. It waits for the servers for at most the
// client's connection timeout.
func (s *Storage) TryLock(ctx context.Context, name string) (bool, error) {
	h, first := s.reserve(name)
	if !first {
		return false, nil
	}
	lease, err := s.mutex(name).TryAcquire(locks.WithoutLease(ctx))
	if err = s.granted(name, h, lease, err); errors.Is(err, locks.ErrNotAcquired) {
		return false, nil
	}
	return err == nil, err
}

// Unlock releases the lock, whatever has become of ctx. Errors: the lock is not held here; those of
// locks.Lease.Release, a *locks.LostError for a lock that was lost. In every case the next contender may have it.
func (s *Storage) Unlock(_ context.Context, name string) error {
	h, lease := s.holder(name)
	if lease == nil || !s.replace(h, lease, nil) {
		return fmt.Errorf("unlock %q: it is not locked here", name)
	}
	defer s.end(name, h)
	return lease.Release()
}

// RenewLockLease returns nil if the lock is still held, whatever the duration: leases are renewed in the background. A
// lock that was lost is taken again if it is free. Errors are those of locks.InterProcessMutex.TryAcquire.
func (s *Storage) RenewLockLease(ctx context.Context, name string, _ time.Duration) error {
	h, lease := s.holder(name)
	if lease == nil {
		return fmt.Errorf("renewal of lock %q: it is not locked here", name)
	}
	lost := lease.Err()
	if lost == nil {
		return nil
	}
	again, err := s.mutex(name).TryAcquire(locks.WithoutLease(ctx))
	if err != nil {
		return fmt.Errorf("%w; and cannot be taken again: %w", lost, err)
	}
	if !s.replace(h, lease, again) { // by another Unlock, as of certmagic.CleanUpOwnLocks
		return errors.Join(fmt.Errorf("renewal of lock %q: it was unlocked meanwhile", name), again.Release())
	}
	return nil
}

// A name contains what domains contain, slashes too, and a node cannot be called "." or "..".
func (s *Storage) mutex(name string) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(s.client, s.path+"/name-"+url.PathEscape(name), s.opts...)
}

// reserve begins to lock a name, or returns the hold of the goroutine that has begun before.
func (s *Storage) reserve(name string) (h *hold, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[name]; h != nil {
		return h, false
	}
	h = &hold{ended: make(chan struct{})}
	s.held[name] = h
	return h, true
}

// granted ends a reservation: with a lease, or with the error of its acquire.
func (s *Storage) granted(name string, h *hold, lease *locks.Lease, err error) error {
	if err != nil {
		s.end(name, h)
		return fmt.Errorf("lock %q: %w", name, err)
	}
	s.replace(h, nil, lease)
	return nil
}

// replace changes the lease of a hold, unless it has changed.
func (s *Storage) replace(h *hold, old, lease *locks.Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.lease != old {
		return false
	}
	h.lease = lease
	return true
}

func (s *Storage) holder(name string) (*hold, *locks.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[name]; h != nil {
		return h, h.lease
	}
	return nil, nil
}

// end lets the next goroutine have the name.
func (s *Storage) end(name string, h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, name)
	close(h.ended)
}
