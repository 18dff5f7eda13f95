package gocronlock

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// A Locker lets each run of a job take place in one process. Its methods are safe for concurrent use.
type Locker struct {
	client  *framework.Client
	path    string
	minHold time.Duration
	opts    []locks.Option

	mu   sync.Mutex
	held map[string]*locks.Lease // by the key of the job, from Lock to Unlock; guarded by mu
}

var _ gocron.Locker = (*Locker)(nil)

// NewLocker returns a locker whose locks are mutexes below path, each named after its job. It does no I/O. A lock is
// held for at least minHold, so that a process whose clock is late by less than half of it does not find it free again.
func NewLocker(client *framework.Client, path string, minHold time.Duration, opts ...locks.Option) *Locker {
	return &Locker{client: client, path: path, minHold: minHold, opts: opts, held: map[string]*locks.Lease{}}
}

// Lock takes the lock of a job if it is free, without waiting for another holder. It waits for the servers for at most
// the client's connection timeout, and half of the least time: later the other process may have had the lock already.
// Errors are those of locks.InterProcessMutex.TryAcquire, [locks.ErrNotAcquired] among them, also when this process has
// not ended an earlier run of the job, whose lock it lost.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	mutex := locks.NewInterProcessMutex(l.client, l.path+"/"+nodeName(key), l.opts...)
	if l.minHold > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.minHold/2)
		defer cancel()
	}
	lease, err := mutex.TryAcquire(locks.WithoutLease(ctx))
	if err != nil {
		return nil, fmt.Errorf("lock of job %q: %w", key, err)
	}
	if !l.keep(key, lease) {
		return nil, errors.Join(fmt.Errorf("lock of job %q: a run that lost it has not ended here: %w", key, locks.ErrNotAcquired),
			lease.Release())
	}
	return &hold{locker: l, key: key, lease: lease, until: time.Now().Add(l.minHold)}, nil
}

// Task makes work a job that ends when its lock is lost. key is the job's name, see gocron.WithName. The context of
// work ends with the job's context and when the lock is lost; it owns the lock. The error of a run that lost its lock
// is [locks.ErrLeaseLost], also if work returned nil.
func (l *Locker) Task(key string, work func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		l.mu.Lock()
		lease := l.held[key]
		l.mu.Unlock()
		if lease == nil {
			return fmt.Errorf("no lock is held for job %q: the job needs gocron.WithName(%q) and this locker", key, key)
		}
		return runUnder(ctx, lease, work)
	}
}

// keep notes the lease of a run. It refuses while an earlier run has not come to its Unlock: Task could not distinguish
// the two.
func (l *Locker) keep(key string, lease *locks.Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[key] != nil {
		return false
	}
	l.held[key] = lease
	return true
}

func (l *Locker) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, key)
}

// A hold is the lock of one run.
type hold struct {
	locker *Locker
	key    string
	lease  *locks.Lease
	until  time.Time // the earliest time of its release
}

// Unlock releases the lock when it has been held for the least time. It does not look at its context, which gocron has
// cancelled on Shutdown and after a job's last run.
func (h *hold) Unlock(context.Context) error {
	rest := time.NewTimer(time.Until(h.until))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-h.lease.Done():
	}
	h.locker.forget(h.key) // first: after the release the next run may begin
	return h.lease.Release()
}

// runUnder runs work while the lease lasts, and reports its loss, whatever work returned.
func runUnder(ctx context.Context, lease *locks.Lease, work func(ctx context.Context) error) error {
	err := work(lease.Context(ctx))
	if lost := lease.Err(); lost != nil && !errors.Is(err, locks.ErrLeaseLost) {
		return errors.Join(lost, err)
	}
	return err
}

// nodeName is a key as the name of a node. Names of functions contain slashes, and a node cannot be called "." or "..".
func nodeName(key string) string { return "job-" + url.PathEscape(key) }
