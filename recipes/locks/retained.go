package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// A RetainedLock is what [Retain] returns. It is safe for concurrent use.
type RetainedLock struct {
	lock      exclusiveLock
	recipe    *recipe
	key       retainedKey
	retention retention
}

type exclusiveLock interface {
	owned
	fmt.Stringer
	reenter(ctx context.Context) (*Lease, error)
}

var (
	_ Lock          = (*RetainedLock)(nil)
	_ exclusiveLock = (*InterProcessMutex)(nil)
	_ exclusiveLock = (*WriteLock)(nil)
)

// Retain returns lock, an [InterProcessMutex] or a [WriteLock], with a local queue: of the contenders with one client,
// path and options, the first acquires the lock from the servers, and its node goes from one to the next without a
// request. With [Idle] the node also stays when none of them wants it: a client that takes the lock again and again
// sends nothing for it. The first call refuses any other lock.
//
// Use it for a lock that one client takes often and briefly, and others seldom. An idle holder that crashes blocks
// others for its session timeout, so Idle should be short. Their tries find a retained lock taken. Their acquires wait
// up to two round trips longer, until the holder has heard of them and removed its node.
//
// A node is handed over at most [Most] times and within [Busy] of its admission. Neither bound counts while no other
// client is known to wait: the directory is watched, its newest listing had no other contender, and the leader has
// answered within three eighths of the session timeout. The listing is renewed once in the session timeout, so an event
// that is lost keeps others waiting for that long. When another contender comes, of any client and language, an idle
// node is removed, and a busy one after the present hold, see [AfterDemand]. A contender of the same client outside the
// local queue counts as another. Nothing is retained without READ permission on the directory.
//
// A node is kept idle only where that is likely to pay: after three grants in a row with no other client's in between,
// and not for 30 s after another client wanted a node that had been of little use.
//
// Three guarantees have exceptions. A later contender in the local queue may be served before an earlier one of another
// client (G3). A release that keeps or hands over the node wakes no other client (G4). Holds that share a node share
// its [Lease.FencingToken]; its pair with [Lease.LocalCount] grows (G9).
//
// A loss ends the present hold. After a downgrade, a [Lease.Check] or a request to leave, the node is removed. A
// context that owns the present hold re-enters, by way of lock as well; those of earlier holds get [ErrReleased].
// Contenders in the local queue have no node and are no [Participant].
//
// Curator has none.
func Retain(lock Lock, opts ...RetainOption) *RetainedLock {
	o := retainOptions{retention: retention{most: 64, busy: 100 * time.Millisecond}}
	for _, opt := range opts {
		if opt == nil {
			o.problems = append(o.problems, errors.New("a RetainOption is nil"))
			continue
		}
		opt(&o)
	}
	l := &RetainedLock{retention: o.retention}
	switch inner := lock.(type) {
	case *InterProcessMutex:
		if inner != nil {
			l.lock, l.recipe = inner, inner.recipe.withProblems(o.problems)
		}
	case *WriteLock:
		if inner != nil {
			l.lock, l.recipe = inner, inner.recipe.withProblems(o.problems)
		}
	}
	if l.lock == nil {
		problem := fmt.Errorf("only a mutex or a write lock can be retained, not %T", lock)
		l.recipe = (&recipe{}).withProblems(append(o.problems, problem))
		return l
	}
	l.key = retainedKey{id: l.recipe.id, retention: o.retention, node: l.recipe.opts.Node}
	return l
}

func (r *recipe) withProblems(problems []error) *recipe {
	if len(problems) == 0 {
		return r
	}
	refused := *r
	refused.err = session.JoinErrors(append([]error{r.err}, problems...)...)
	return &refused
}

// A RetainOption sets a bound of [Retain]. The lock's first call reports a wrong one.
type RetainOption func(*retainOptions)

type retainOptions struct {
	retention
	problems []error
}

// Most bounds how often a node is handed over, see [Retain]. The default is 64; 0 means never.
func Most(n int) RetainOption {
	return func(o *retainOptions) { o.most = o.notNegative("Most", n) }
}

// Busy bounds the time from a node's admission to its last hand-over, see [Retain]. The default is 100 ms.
func Busy(d time.Duration) RetainOption {
	return func(o *retainOptions) { o.busy = time.Duration(o.notNegative("Busy", int(d))) }
}

// Idle sets how long a node stays when no contender of its client wants it. The default is 0: it goes with the last of
// them. Twice the usual time between holds is enough, and more than 100 ms seldom sensible.
func Idle(d time.Duration) RetainOption {
	return func(o *retainOptions) { o.idle = time.Duration(o.notNegative("Idle", int(d))) }
}

// AfterDemand sets how often a node is handed over after another client is known to wait. The default is 0: it is
// removed after the present hold.
func AfterDemand(n int) RetainOption {
	return func(o *retainOptions) { o.afterDemand = o.notNegative("AfterDemand", n) }
}

func (o *retainOptions) notNegative(name string, n int) int {
	if n < 0 {
		o.problems = append(o.problems, fmt.Errorf("%s must not be negative", name))
	}
	return n
}

// Acquire waits for the lock, as [InterProcessMutex.Acquire] does: behind contenders of this client in the local queue,
// and then in that of the servers. If a contender gives up, the next takes over its place there. Errors are those of
// the lock.
func (l *RetainedLock) Acquire(ctx context.Context) (*Lease, error) {
	return l.recipe.acquire(ctx, l.reenter, l.contend)
}

// TryAcquire returns a Lease if no contender holds the lock or waits for it, even if this client retains its node;
// [ErrNotAcquired] otherwise. While this client has asked whether others wait, and has no answer yet, it blocks for
// that, until ctx ends or the connection timeout has passed. Other errors are those of the lock.
func (l *RetainedLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return l.recipe.try(ctx, l.reenter, l.contendNow)
}

func (l *RetainedLock) reenter(ctx context.Context) (*Lease, error) { return l.lock.reenter(ctx) }

func (l *RetainedLock) identities() []identity {
	if l.lock == nil {
		return nil
	}
	return l.recipe.identities()
}

// IsAcquiredInThisProcess reports whether this client holds the lock. It is false while the node is idle.
func (l *RetainedLock) IsAcquiredInThisProcess() bool {
	return l.lock != nil && l.lock.IsAcquiredInThisProcess()
}

// IsOwnedBy reports whether ctx owns a lease on the lock that lasts.
func (l *RetainedLock) IsOwnedBy(ctx context.Context) bool {
	return l.lock != nil && l.lock.IsOwnedBy(ctx)
}

// Participants returns the contenders at the servers, the holder first. Retained marks this client's idle node.
func (l *RetainedLock) Participants(ctx context.Context) ([]Participant, error) {
	if l.lock == nil {
		return l.recipe.contenders(ctx, func(queue.Node) bool { return true }) // which says what is wrong
	}
	return l.lock.Participants(ctx)
}

func (l *RetainedLock) String() string { return fmt.Sprintf("retained %v", l.lock) }

// Format is String by every verb.
func (l *RetainedLock) Format(f fmt.State, verb rune) { session.FormatText(f, verb, l.String()) }
