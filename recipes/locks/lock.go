package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
)

// A Lock can be acquired. All recipes of this package are Locks.
//
// Curator: InterProcessLock.
type Lock interface {
	// Acquire waits for the lock and returns a Lease on it.
	Acquire(ctx context.Context) (*Lease, error)
	// TryAcquire returns a Lease if nobody else holds the lock or waits for it, and ErrNotAcquired otherwise.
	TryAcquire(ctx context.Context) (*Lease, error)
}

// With runs do while holding lock. do gets the context of the lease: it ends when ctx ends and when the lock is lost, and
// an Acquire of the same lock with it re-enters. The lease is released when do returns, and also when it panics.
//
// Errors: that of Acquire; those of do and of Release, joined. If the lock was lost while do ran, the error is [ErrLeaseLost]
// even if do returned nil: what do did may have been done without the lock.
//
// Curator: Locker.
func With(ctx context.Context, lock Lock, do func(ctx context.Context) error) (err error) {
	lease, err := lock.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release()) }()
	return do(lease.Context(ctx))
}

// A recipe is what the locks of one queue have in common: re-entry, tracing, errors.
type recipe struct {
	queue queue
	err   error // misuse of the constructor: every call fails with it
}

func newRecipe(client *framework.Client, path string, opts []Option) recipe {
	o := &options{}
	for _, opt := range opts {
		if opt == nil {
			o.problems = append(o.problems, errors.New("an option is nil"))
			continue
		}
		opt(o)
	}
	r := recipe{queue: queue{client: client, path: path, opts: o}}
	if client == nil {
		o.problems = append(o.problems, errors.New("client is nil"))
	} else if dir, err := client.AbsolutePath(path); err != nil {
		o.problems = append(o.problems, err)
	} else {
		if dir == "/zookeeper" || strings.HasPrefix(dir, "/zookeeper/") {
			o.problems = append(o.problems, fmt.Errorf("%w %q: belongs to ZooKeeper itself", framework.ErrInvalidPath, path))
		}
		r.queue.dir = dir
		r.queue.id = identity{client: client.NonNamespaceView(), path: dir}
	}
	if o.handovers > 0 {
		o.settings = fmt.Sprintf("%t %q %q", o.data != nil, o.data, o.extra)
	}
	r.err = errors.Join(o.problems...)
	return r
}

// A contention gets grants for somebody who does not hold the lock yet.
type contention func(ctx context.Context) ([]*grant, place, error)

// A reentry returns the lease of ctx that makes an acquire a re-entry, nil if there is none, or refuses.
type reentry func(ctx context.Context) (*Lease, error)

// acquire is Acquire and TryAcquire of every recipe that gives one lease.
func (r *recipe) acquire(ctx context.Context, reenter reentry, contend contention) (*Lease, error) {
	leases, err := r.acquireAll(ctx, reenter, contend)
	if err != nil {
		return nil, err
	}
	return leases[0], nil
}

// acquireAll gives a lease for each grant of contend.
func (r *recipe) acquireAll(ctx context.Context, reenter reentry, contend contention) ([]*Lease, error) {
	if r.err != nil {
		return nil, &AcquireError{Path: r.queue.path, Err: r.err}
	}
	begun := time.Now()
	trace := &r.queue.opts.trace
	ctx = trace.acquireStart(ctx, AcquireStart{Path: r.queue.path})
	leases, at, err := acquireOnce(ctx, reenter, contend)
	end := AcquireEnd{Path: r.queue.path, Waited: time.Since(begun)}
	if err != nil {
		err = &AcquireError{
			Path: r.queue.path, Node: at.node, Ahead: at.ahead, Behind: at.behind, OwnClient: at.ownClient, Err: err,
		}
		end.Err = err
	} else {
		end.Node, end.Token, end.Reentered = leases[0].NodeName(), leases[0].FencingToken(), at.reentered
		end.HandOver, end.LocalCount = at.handOver, leases[0].LocalCount()
	}
	trace.acquireEnd(ctx, end)
	return leases, err
}

func acquireOnce(ctx context.Context, reenter reentry, contend contention) (leases []*Lease, at place, err error) {
	outer, err := reenter(ctx)
	switch {
	case err != nil:
		return nil, at, err
	case ctx.Err() != nil:
		return nil, at, context.Cause(ctx)
	case outer != nil:
		lease, err := outer.grant.join()
		return []*Lease{lease}, place{reentered: true}, err
	}
	grants, at, err := contend(ctx)
	if err != nil {
		return nil, at, err
	}
	for _, g := range grants {
		lease, joinErr := g.join()
		err = errors.Join(err, joinErr)
		if joinErr == nil {
			leases = append(leases, lease)
		}
	}
	if err != nil { // one is lost already: all or nothing
		return nil, at, errors.Join(err, ReleaseAll(leases...))
	}
	return leases, at, nil
}

// ReleaseAll releases leases, the last one first. It tries all of them, and returns every failure.
//
// Curator: InterProcessSemaphoreV2.returnAll().
func ReleaseAll(leases ...*Lease) error {
	var errs []error
	for _, lease := range slices.Backward(leases) {
		errs = append(errs, lease.Release())
	}
	return errors.Join(errs...)
}

// reenter returns the innermost lease that ctx owns of that lock. A lease that has ended is refused: its owner must not be let
// in again, nor queue as a stranger behind its own mistake.
func reenter(ctx context.Context, id identity) (*Lease, error) {
	lease := find(ctx, id, func(*grant) bool { return true })
	if lease == nil {
		return nil, nil
	}
	if err := lease.Err(); err != nil {
		return nil, err
	}
	return lease, nil
}
