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
// closed, or its node is removed. It ends before another contender can be admitted (G2). It is safe for concurrent use.
//
// Curator: Lease, and what a thread has between acquire() and release().
type Lease struct {
	recipe  *recipe      // nil for a multi-lock's
	grant   *queue.Grant // nil for a multi-lock's
	parts   []*Lease     // of a multi-lock's
	revoked revocation   // guarded by mu

	done      chan struct{}
	mu        sync.Mutex
	ended     bool
	over      error // ErrReleased or a *LostError; nil if the grant was lost, which has the reason
	released  bool
	followers []follower
	contended *notice // nil until asked for
}

func newLease(r *recipe, g *queue.Grant) *Lease {
	return &Lease{recipe: r, grant: g, done: make(chan struct{})}
}

var errNoLease = errors.New("locks: there is no lease: no Acquire returned it")

// missing is the error of a nil Lease, as a failed Acquire returns, and of one that a program made.
func (l *Lease) missing() error {
	if l == nil || l.done == nil {
		return errNoLease
	}
	return nil
}

// single returns the lease, or those of a multi-lock's parts.
func (l *Lease) single() []*Lease {
	if l.missing() != nil {
		return nil
	}
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
// Ended contexts are left out when the list would have to grow; half of it is free then, so each follower costs the
// same. context.AfterFunc leaves them out sooner, and makes the end of thousands of leases half as slow again.
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

// end ends the lease, its contexts and its multi-locks; cause is nil if the grant was lost. It does not block.
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
		return
	}
	cause = l.reason(cause)
	for _, f := range followers {
		f.end(cause)
	}
}

func (l *Lease) reason(over error) error {
	if over == nil {
		return l.grant.Err()
	}
	return over
}

// Done is closed when the lease ends, by a timer at the end of its time. Timers stand still while the machine is
// suspended: then Done can be late by what the lease had left before, unless a call of Err, the lease's or that of one
// of its contexts, ends the lease first.
func (l *Lease) Done() <-chan struct{} {
	if l.missing() != nil {
		over := make(chan struct{})
		close(over)
		return over
	}
	return l.done
}

// Err is nil while this lease holds the lock, [ErrReleased] after Release, and a [*LostError] after a loss. It compares
// the time with ValidUntil, and so is right from the first call after a suspension on. A nil Lease, as a failed Acquire
// returns, and one that a program made hold nothing: Err and Release say so.
func (l *Lease) Err() error {
	if err := l.missing(); err != nil {
		return err
	}
	lost := l.loss()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over != nil {
		return l.over
	}
	return lost // the end of the grant may not have come to this lease yet
}

// loss is the loss of the grant, or of a multi-lock's first part that is lost. It compares the time.
func (l *Lease) loss() error {
	if l.grant != nil {
		if err := l.grant.Err(); errors.Is(err, ErrLeaseLost) {
			return err
		}
	}
	for _, part := range l.parts {
		if err := part.loss(); err != nil {
			return err
		}
	}
	return nil
}

// ValidUntil is when the lease ends unless its session is renewed; after the loss of the session, when it ended. Before
// it, no server can give the lock to another contender, unless the lease is released or the node removed by hand: Err
// tells of that, ValidUntil does not. A lease that begins right after an outage may have little time left until the
// session's next renewal.
func (l *Lease) ValidUntil() time.Time {
	var first time.Time
	for i, part := range l.single() {
		if until := part.grant.ValidUntil(); i == 0 || until.Before(first) {
			first = until
		}
	}
	return first
}

// Release ends the lease. The last lease of a hold removes the node, and waits for the server's answer for at most the
// client's connection timeout. A retained lock may keep the node or hand it over instead.
//
// Errors: [ErrReleased] if it was released before; a [*LostError] if it was lost; a [*ReleaseError] if the removal is
// refused or not confirmed. In every case the lease has ended. A multi-lock's lease releases its parts, the last one
// first, and returns every failure.
//
// Curator: InterProcessLock.release(), Lease.close().
func (l *Lease) Release() error { return l.release(nil) }

// release is Release that waits for the server until enough is closed, which is no error.
func (l *Lease) release(enough <-chan struct{}) error {
	if err := l.missing(); err != nil {
		return err
	}
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
// one, or its owner has an answer.
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

// A keeper decides what becomes of a node after a hold; without one it is removed.
type keeper interface {
	// release ends the hold of its last lease, and waits for the node's removal, if any, until enough is closed.
	release(last *Lease, enough <-chan struct{}) error
	// quit is release without waiting.
	quit(last *Lease)
}

type member struct{ lease *Lease }

func (m member) Ended() { m.lease.end(nil) }

func (m member) AskedToLeave() { m.lease.request() }
