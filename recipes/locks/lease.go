package locks

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// A Lease is a held lock. It lasts until its Release or its loss: when the session may have ended, the client is
// closed, or its node is removed. It ends before another contender can be admitted (G2). It is safe for concurrent use.
//
// A program that drops a Lease and its contexts without Release leaves the lock held, because the code that it guards
// may still run. The client's log says so at Error after the next garbage collection; [WithCaller] adds where it was
// acquired. A context that was made from the lease's and not canceled counts as one of them; a channel of Done does
// not. A term of the Campaign of a leader.LeaderSelector is not reported.
//
// Curator: Lease, and what a thread has between acquire() and release().
type Lease struct {
	*leaseState                 // nil in a Lease that the program made itself
	parts       []*Lease        // the parts of a multi-lock's lease
	drop        runtime.Cleanup // reports a Lease that the program has lost
	_           [0]sync.Mutex   // so that vet finds copies
}

// A leaseState is what this package keeps of a lease, or it could not tell when the program drops the Lease.
type leaseState struct {
	recipe  *recipe      // nil for a multi-lock's
	grant   *queue.Grant // nil for a multi-lock's
	callers []uintptr    // who called Acquire; nil without WithCaller
	revoked revocation   // guarded by mu

	done      chan struct{}
	mu        ranked.Mutex[ranked.Leaf, leaseState]
	ended     bool
	over      error // ErrReleased or a *LostError; nil if the grant was lost, which has the reason
	released  bool
	followers []follower
	contended *notice // nil until asked for
}

func newLease(r *recipe, g *queue.Grant) *Lease {
	return &Lease{leaseState: &leaseState{recipe: r, grant: g, done: make(chan struct{})}}
}

var errNoLease = errors.New("locks: there is no lease: no Acquire returned it")

// missing is the error of a nil Lease, and of one that a program made.
func (l *Lease) missing() error {
	if l == nil || l.leaseState == nil {
		return errNoLease
	}
	return nil
}

// single returns the lease, or the leases of a multi-lock's parts.
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
// Ended contexts are removed when the list would have to grow. This leaves half the slice free, so the amortized cost
// is constant. context.AfterFunc removes them sooner, but the end of thousands of leases takes half as long again.
func (l *leaseState) follow(f follower) {
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
func (l *leaseState) end(cause error) {
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

func (l *leaseState) reason(over error) error {
	if over == nil {
		return l.grant.Err()
	}
	return over
}

// Done is closed when the lease ends. It relies on a timer, which stops while the machine is suspended, so Done can be
// late by the time that the lease had left, unless a call of Err of the lease or of its contexts ends the lease first.
func (l *Lease) Done() <-chan struct{} {
	if l.missing() != nil {
		over := make(chan struct{})
		close(over)
		return over
	}
	return l.done
}

// Err is nil while this lease holds the lock, [ErrReleased] after Release, and a [*LostError] after a loss. It compares
// the time with ValidUntil, so the first call after a suspension is correct. It is an error, as is Release, of a nil
// Lease, which a failed Acquire returns, and of one that a program made.
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

// loss is the loss of the grant, or of a multi-lock's first lost part. It compares the time.
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

// ValidUntil is when the lease ends unless its session is renewed; after the loss of the session, when it ended. Until
// then no server can give the lock to another contender, unless the lease is released or the node removed by hand,
// which only Err reports. A lease that begins right after an outage may have little time left until the next renewal.
func (l *Lease) ValidUntil() time.Time {
	var first time.Time
	for i, part := range l.single() {
		if until := part.grant.ValidUntil(); i == 0 || until.Before(first) {
			first = until
		}
	}
	return first
}

type member struct{ lease *leaseState }

func (m member) Ended() { m.lease.end(nil) }

func (m member) AskedToLeave() { m.lease.request() }
