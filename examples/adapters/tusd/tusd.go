// Package tusdlock has several tusd servers share their uploads, on Curator's locks in ZooKeeper.
//
//	locker := tusdlock.NewLocker(client, "/uploads", 5*time.Second)
//	composer := handler.NewStoreComposer()
//	store.UseIn(composer)
//	composer.UseLocker(locker)
//	uploads, err := handler.NewHandler(handler.Config{
//		StoreComposer: composer, BasePath: "/files/", GracefulRequestCompletionTimeout: 5 * time.Second,
//	})
//
// # Who makes room
//
// A client whose connection broke comes back, to another server perhaps, while the first request still waits for bytes.
// So tusd has the holder of an upload's lock make room for each request that comes: the lock calls requestUnlock, which
// interrupts the holder's request. Here the holder hears of a request at any other server by [locks.Lease.Contended],
// without a write, and of an operator who asks it to leave, by zklock revoke or locks.AttemptRevoke.
//
// # What happens on a loss
//
// The request is interrupted as well, and before the loss. tusd takes no more bytes from then on, and gives the store
// up to GracefulRequestCompletionTimeout to keep those that it has. So requestUnlock is called when the lease has only
// the grace left that NewLocker is given, and the store is done before another server can have the lock. The grace
// should be the GracefulRequestCompletionTimeout, ten seconds unless configured, and less than half of the session
// timeout: a healthy lease has at least half of it left.
//
// A store that goes on after that can overwrite what the next holder stores: that is for the store to refuse.
package tusdlock

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// A Locker makes the locks of uploads. Its methods are safe for concurrent use.
type Locker struct {
	client *framework.Client
	path   string
	grace  time.Duration
	opts   []locks.Option
}

var _ handler.Locker = (*Locker)(nil)

// NewLocker returns a locker whose locks are mutexes below path, each named after its upload. It does no I/O. A holder
// is asked to unlock when its lease has no more than grace left.
func NewLocker(client *framework.Client, path string, grace time.Duration, opts ...locks.Option) *Locker {
	return &Locker{client: client, path: path, grace: grace, opts: opts}
}

// UseIn makes the locker that of a composer, as tusd's own lockers do.
func (l *Locker) UseIn(composer *handler.StoreComposer) { composer.UseLocker(l) }

// NewLock returns a lock for an upload, which is not held yet. It does no I/O, and never fails.
func (l *Locker) NewLock(id string) (handler.Lock, error) {
	// An id can be one of the store's, with any characters, and a node cannot be called "." or "..".
	path := l.path + "/upload-" + url.PathEscape(id)
	return &lock{mutex: locks.NewInterProcessMutex(l.client, path, l.opts...), grace: l.grace}, nil
}

// A lock is used for one request: Lock, then Unlock.
type lock struct {
	mutex *locks.InterProcessMutex
	grace time.Duration

	lease     *locks.Lease  // set by Lock
	unlocking chan struct{} // closed by Unlock, which waits for ended
	ended     chan struct{} // closed when requestUnlock is not called any more
}

// Lock waits for the lock until ctx ends; it asks the holder to make room. From then on it calls requestUnlock once,
// from another goroutine: when a request comes for the same upload, when an operator asks for it, or when the lease is
// about to end. Errors: handler.ErrLockTimeout if ctx has ended; those of locks.InterProcessMutex.Acquire. No node is
// left behind then.
func (l *lock) Lock(ctx context.Context, requestUnlock func()) error {
	lease, err := l.mutex.Acquire(locks.WithoutLease(ctx))
	switch {
	case err != nil && ctx.Err() != nil:
		return handler.ErrLockTimeout
	case err != nil:
		return fmt.Errorf("lock of an upload: %w", err)
	}
	l.lease, l.unlocking, l.ended = lease, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(l.ended)
		if l.mustLeave() {
			requestUnlock()
		}
	}()
	return nil
}

// Unlock releases the lock. requestUnlock is not called any more when it has returned. Errors are those of
// locks.Lease.Release, a *locks.LostError for a lock that was lost; tusd drops them.
func (l *lock) Unlock() error {
	close(l.unlocking)
	<-l.ended
	return l.lease.Release()
}

// mustLeave waits until the holder has to leave; it returns false when the holder leaves by itself.
func (l *lock) mustLeave() bool {
	for {
		left := time.Until(l.lease.ValidUntil()) - l.grace
		if left <= 0 {
			return true
		}
		select {
		case <-time.After(left): // ValidUntil may have moved on
		case <-l.unlocking:
			return false
		case <-l.lease.Contended():
			return true
		case <-l.lease.RevocationRequested():
			return true
		case <-l.lease.Done():
			return true
		}
	}
}
