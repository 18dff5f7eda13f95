package locks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// A Lease is a held lock. It lasts until its Release or its loss: when the session may have ended, the client is
// closed, or its node is removed. It ends before another contender can be admitted; package framework says how.
//
// Its methods are safe for concurrent use, from any goroutine.
//
// Curator: Lease, and what a thread has between acquire() and release().
type Lease struct {
	recipe  *recipe      // that acquired it; nil for a multi-lock's
	grant   *queue.Grant // nil for a multi-lock's
	parts   []*Lease     // of a multi-lock's
	revoked revocation   // guarded by mu

	done      chan struct{}
	mu        sync.Mutex
	ended     bool
	over      error // ErrReleased or a *LostError; nil if the grant was lost, which has the reason
	released  bool  // Release has been called
	followers []follower
	contended *notice // nil before it is asked for
}

func newLease(r *recipe, g *queue.Grant) *Lease {
	return &Lease{recipe: r, grant: g, done: make(chan struct{})}
}

// Context returns a context that ends with parent, and when the lease ends: context.Cause is then [ErrReleased] or a
// [*LostError]. Work that gets it stops when the lock is lost.
//
// The context owns the lease: an Acquire of the same lock with it re-enters. Goroutines that share it act for one
// owner, and do not exclude each other; see [WithoutLease].
func (l *Lease) Context(parent context.Context) context.Context {
	_ = l.Err() // ends the lease if its time is up
	owners := ownerOf(parent)
	for _, part := range l.single() {
		owners = &owner{lease: part, outer: owners}
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, ownerKey{}, owners))
	l.follow(follower{ctx: ctx, end: cancel})
	return ctx
}

// single returns the lease, or those of a multi-lock's parts.
func (l *Lease) single() []*Lease {
	if l.grant != nil {
		return []*Lease{l}
	}
	var all []*Lease
	for _, part := range l.parts {
		all = append(all, part.single()...)
	}
	return all
}

// A follower ends with the lease: a context, a multi-lock, a watch for contenders.
type follower struct {
	ctx context.Context //nolint:containedctx // nil: the follower is none
	end func(cause error)
}

// follow ends f, once, when the lease ends, or now if it has. f.end must not block.
//
// Ended contexts are left out when the list would have to grow, and half of it is free after that, so this costs each
// follower the same. context.AfterFunc leaves them out sooner, and makes the end of thousands of leases half as slow
// again.
func (l *Lease) follow(f follower) {
	l.mu.Lock()
	if l.ended {
		over := l.over
		l.mu.Unlock()
		f.end(l.reason(over))
		return
	}
	defer l.mu.Unlock()
	if len(l.followers) == cap(l.followers) {
		l.followers = slices.DeleteFunc(l.followers, func(f follower) bool { return f.ctx != nil && f.ctx.Err() != nil })
		l.followers = slices.Grow(l.followers, len(l.followers))
	}
	l.followers = append(l.followers, f)
}

// end ends the lease, its contexts, and multi-locks with it; cause is nil if the grant was lost. It does not block.
func (l *Lease) end(cause error) {
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return
	}
	l.ended, l.over = true, cause
	followers := l.followers
	l.followers = nil
	l.mu.Unlock()
	close(l.done)
	if len(followers) == 0 {
		return // then the reason need not be made
	}
	cause = l.reason(cause)
	for _, f := range followers {
		f.end(cause)
	}
}

// reason is why the lease has ended.
func (l *Lease) reason(over error) error {
	if over == nil {
		return l.grant.Err()
	}
	return over
}

// Done is closed when the lease ends. At the end of its time a timer closes it. Timers stand still while the machine is
// suspended: after that Done, and the lease's contexts, can be late by what the lease had left before. Err is not.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Err is nil while the lock is held through this lease, [ErrReleased] after Release, and a [*LostError] after a loss.
// It compares the time with ValidUntil, so it is right from the first call after a suspension on.
func (l *Lease) Err() error {
	var lost error
	for _, part := range l.single() {
		if err := part.grant.Err(); errors.Is(err, ErrLeaseLost) {
			lost = err
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over != nil {
		return l.over
	}
	return lost // the goroutine that ends the grant may not have come to this lease yet
}

// ValidUntil is when the lease ends without another renewal of its session, or when its hold ended. Before it, no
// server can give the lock to another contender, unless the node is removed by hand.
func (l *Lease) ValidUntil() time.Time {
	var first time.Time
	for i, part := range l.single() {
		if until := part.grant.ValidUntil(); i == 0 || until.Before(first) {
			first = until
		}
	}
	return first
}

// Release ends the lease. With the last lease of a hold it removes the node: it waits for the server's answer, for at
// most the client's connection timeout. A lock of [Retain] may keep the node or hand it over instead, without waiting.
//
// Errors: [ErrReleased] if it was released before; a [*LostError] if it was lost; a [*ReleaseError] if the removal is
// not confirmed, or refused. In every case the lease has ended, and needs no further Release. A multi-lock's lease
// releases its parts, the last one first, and returns every failure.
//
// Curator: InterProcessLock.release(), Lease.close().
func (l *Lease) Release() error { return l.release(nil) }

// release is Release that waits for the server until enough is closed, which is no error.
func (l *Lease) release(enough <-chan struct{}) error {
	l.mu.Lock()
	again := l.released
	l.released = true
	l.mu.Unlock()
	switch {
	case again:
		return l.errReleased()
	case l.grant != nil:
		return l.releaseLease(enough)
	}
	l.end(l.errReleased())
	var errs []error
	for _, part := range slices.Backward(l.parts) {
		errs = append(errs, part.release(enough))
	}
	return session.JoinErrors(errs...)
}

// releaseLease leaves the grant. After the last lease of a hold it removes the node, and waits until enough is closed;
// or the keeper decides.
func (l *Lease) releaseLease(enough <-chan struct{}) error {
	last, err := l.leaveGrant()
	if err != nil || !last {
		return err
	}
	g, r := l.grant, l.recipe
	if k, ok := g.KeptHold().(keeper); ok {
		return k.release(l, enough)
	}
	released := Released{Path: r.path, Node: g.Name, LocalCount: g.Count}
	if err := g.RemoveNodeWithin(enough); err != nil {
		released.Err = &ReleaseError{Path: r.path, Node: g.Name, Err: err}
	}
	released.Held = time.Since(g.Since)
	r.released(released)
	return released.Err
}

// leaveGrant ends the lease, and reports whether it was the grant's last.
func (l *Lease) leaveGrant() (last bool, err error) {
	last, err = l.grant.Leave(member{l})
	switch {
	case errors.Is(err, ErrReleased):
		return false, l.errReleased()
	case err != nil:
		return false, err
	}
	l.end(l.errReleased())
	return last, nil
}

// quit is Release without waiting, for a lease that only this package has. Errors do not matter: it is not the last
// one, or its owner has got an answer and the removal goes on in the background.
func (l *Lease) quit() {
	last, _ := l.leaveGrant()
	if k, ok := l.grant.KeptHold().(keeper); last && ok {
		k.quit(l)
		return
	}
	if last {
		l.grant.RemoveNode()
		l.recipe.released(Released{
			Path: l.recipe.path, Node: l.grant.Name, Held: time.Since(l.grant.Since), LocalCount: l.grant.Count,
		})
	}
}

// A keeper decides at the end of a hold what becomes of its node. Without one, the node is removed.
type keeper interface {
	// release ends the hold of its last lease. It waits for the removal of the node, if any, until enough is closed.
	release(last *Lease, enough <-chan struct{}) error
	// quit is release without waiting.
	quit(last *Lease)
}

// A member is a lease as its grant sees it.
type member struct{ lease *Lease }

func (m member) Ended() { m.lease.end(nil) }

func (m member) AskedToLeave() { m.lease.request() }
