package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
)

// A Lease is a held lock. It lasts until its Release, or until it is lost: when the session may have ended, when the client is
// closed, or when somebody removes its node. It ends before anybody else can be let in; package framework says how.
//
// Its methods are safe for concurrent use, from any goroutine.
//
// Curator: Lease, and what a thread has between acquire() and release().
type Lease struct {
	grant *grant
	done  chan struct{}

	mu       sync.Mutex
	over     error // ErrReleased or a *LostError
	contexts map[int]context.CancelCauseFunc
	next     int
}

// Context returns a context that ends with parent, and when the lease ends: context.Cause is then [ErrReleased] or a
// [*LostError]. Hand it to the work that the lock protects, and the work stops when the lock is lost.
//
// The context owns the lease: an Acquire of the same lock with it re-enters. Goroutines that share it act for one owner, and
// do not exclude each other; see [WithoutLease].
func (l *Lease) Context(parent context.Context) context.Context {
	owned := context.WithValue(parent, ownerKey{}, &owner{lease: l, outer: ownerOf(parent)})
	ctx, cancel := context.WithCancelCause(owned)
	if err := l.Err(); err != nil {
		cancel(err)
		return ctx
	}
	l.mu.Lock()
	if l.over != nil {
		l.mu.Unlock()
		cancel(l.over)
		return ctx
	}
	id := l.next
	l.next++
	if l.contexts == nil {
		l.contexts = map[int]context.CancelCauseFunc{}
	}
	stop := context.AfterFunc(parent, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.contexts, id)
	})
	l.contexts[id] = func(cause error) {
		stop()
		cancel(cause)
	}
	l.mu.Unlock()
	return ctx
}

// end ends the lease and its contexts. It does not block.
func (l *Lease) end(cause error) {
	l.mu.Lock()
	if l.over != nil {
		l.mu.Unlock()
		return
	}
	l.over = cause
	contexts := l.contexts
	l.contexts = nil
	l.mu.Unlock()
	close(l.done)
	for _, cancel := range contexts {
		cancel(cause)
	}
}

// Done is closed when the lease ends. After the process or the machine was suspended it may be late; Err is not.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Err is nil while the lock is held through this lease, [ErrReleased] after Release, and a [*LostError] after a loss. It
// compares the time with ValidUntil, and so is right at the first look after the process was suspended.
func (l *Lease) Err() error {
	_ = l.grant.err() // ends the leases if their time is up
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// ValidUntil is when the lease ends unless the session is renewed before, or the time at which its hold ended. Before it, no
// server can give the lock to anybody else, but for a node that is removed by hand.
func (l *Lease) ValidUntil() time.Time { return l.grant.hold.ValidUntil() }

// Release ends the lease. With the last lease of a hold it removes the node, so that the next contender is let in: it waits
// for the server's answer, for at most the client's connection timeout. It needs no context.
//
// Errors: [ErrReleased] if it was released before; a [*LostError] if it was lost; a [*ReleaseError] if the removal is not
// confirmed, or refused. In every case the lease has ended, and it is not to be released again.
//
// Curator: InterProcessLock.release(), Lease.close().
func (l *Lease) Release() error {
	l.mu.Lock()
	released := errors.Is(l.over, ErrReleased)
	l.mu.Unlock()
	if released {
		return ErrReleased
	}
	return l.grant.leave(l)
}

// Path is the path of the lock, as it was given to its constructor.
func (l *Lease) Path() string { return l.grant.path }

// NodeName is the name of the node that stands for the lease among the lock's children.
//
// Curator: Lease.getNodeName().
func (l *Lease) NodeName() string { return l.grant.name }

// FencingToken is a number that is greater than that of every earlier hold of the same lock that excludes this one, whatever
// session, process or language it belonged to: the zxid with which the node was created. A store that remembers the greatest
// token it has seen can refuse a holder that is late.
func (l *Lease) FencingToken() int64 { return l.grant.token }

// Check is for the beginning of a transaction that must happen only while the lock is held: the server then checks that the
// lease's node is there. If the lease has ended, the transaction fails with the lease's Err, and is not sent.
func (l *Lease) Check() framework.Op {
	if err := l.Err(); err != nil {
		return framework.FailedOp(err)
	}
	return framework.CheckAbsoluteOp(l.grant.node, -1)
}

// Data reads what the lease's node contains.
//
// Errors: the lease's Err; those of all operations of package framework.
//
// Curator: Lease.getData().
func (l *Lease) Data(ctx context.Context) ([]byte, error) {
	if err := l.Err(); err != nil {
		return nil, err
	}
	client := l.grant.client
	data, _, err := client.Get(ctx, client.RelativePath(l.grant.node))
	if err != nil {
		return nil, fmt.Errorf("locks: data of lease on %q: %w", l.grant.path, err)
	}
	return data, nil
}
