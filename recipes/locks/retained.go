package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/setup"
)

// A RetainedLock is a lock with a local queue: of the contenders with one client, path and options, the first acquires
// the lock from the servers, and its node goes from one to the next without a request. With [RetainIdle] the node also
// stays when none of them wants it, so a client that takes the lock again and again sends nothing. It is safe for
// concurrent use.
//
// Use it for a lock that one client takes often and briefly, and others seldom. An idle holder that crashes blocks
// others for its session timeout, so [RetainIdle] should be short. Their tries find a retained lock taken. Their
// acquires wait up to two round trips longer, until the holder has heard of them and removed its node.
//
// A node is handed over at most [RetainHandOvers] times and within [RetainBusy] of its admission, unless it is known
// that no other client waits: the directory is watched, its newest listing had no other contender, and the leader has
// answered within three eighths of the session timeout. The listing is renewed once in the session timeout, so a lost
// event keeps others waiting for that long. When another contender comes, of any client and language, or of this client
// outside the local queue, an idle node is removed, and a busy one after the present hold, see [RetainAfterDemand].
// Nothing is retained without READ permission on the directory.
//
// A node is kept idle only where that is likely to pay: after three grants in a row with no other client's in between,
// and not for 30 s after another client wanted a node that had been of little use.
//
// Three guarantees have exceptions. A later contender in the local queue may be served before an earlier one of another
// client (G3). A release that keeps or hands over the node wakes no other client (G4). Holds that share a node share
// its [Lease.FencingToken]; its pair with [Lease.FencingCount] grows (G9).
//
// A loss ends the present hold. After a downgrade, a [Lease.Check] or a request to leave, the node is removed. A
// context that owns the present hold re-enters, also by the lock itself; those of earlier holds get [ErrReleased].
// Contenders in the local queue have no node and are no [Participant].
//
// Curator has none.
type RetainedLock struct {
	lock    exclusiveLock
	recipe  recipe
	reenter reentry
	key     retainedKey
}

// An exclusiveLock can be retained.
type exclusiveLock interface {
	fmt.Stringer
	IsAcquiredInThisProcess() bool
	IsOwnedBy(ctx context.Context) bool
	Participants(ctx context.Context) ([]Participant, error)
}

var _ Lock = (*RetainedLock)(nil)

// Retained returns the mutex as a lock that keeps its node with the client after a release. The mutex itself stays as
// it is: its contenders are outside of the local queue. The lock's first call reports a wrong option.
//
// Curator has none.
func (m *InterProcessMutex) Retained(opts ...RetainOption) *RetainedLock {
	return newRetained(m, m.recipe, m.recipe.reenter, opts)
}

// Retained is [InterProcessMutex.Retained] for the write lock.
func (l *WriteLock) Retained(opts ...RetainOption) *RetainedLock {
	return newRetained(l, l.recipe, l.reenter, opts)
}

func newRetained(lock exclusiveLock, r recipe, reenter reentry, opts []RetainOption) *RetainedLock {
	o := retainOptions{retention: retention{most: 64, busy: 100 * time.Millisecond}}
	setup.Apply(&o.problems, &o, opts)
	r.err = session.JoinErrors(append([]error{r.err}, o.problems...)...)
	return &RetainedLock{
		lock: lock, recipe: r, reenter: reenter,
		key: retainedKey{id: r.id, retention: o.retention, node: r.opts.Node},
	}
}

// A RetainOption sets a bound of a [RetainedLock]. The lock's first call reports a wrong one.
type RetainOption func(*retainOptions)

type retainOptions struct {
	retention
	problems setup.Problems
}

// RetainHandOvers bounds how often a node is handed over, see [RetainedLock]. The default is 64; 0 means never.
func RetainHandOvers(n int) RetainOption {
	return func(o *retainOptions) { o.most = o.notNegative("RetainHandOvers", n) }
}

// RetainBusy bounds the time from a node's admission to its last hand-over, see [RetainedLock]. The default is 100 ms.
func RetainBusy(d time.Duration) RetainOption {
	return func(o *retainOptions) { o.busy = time.Duration(o.notNegative("RetainBusy", int(d))) }
}

// RetainIdle sets how long a node stays when no contender of its client wants it. The default is 0. Twice the usual
// time between holds is enough, and more than 100 ms seldom sensible.
func RetainIdle(d time.Duration) RetainOption {
	return func(o *retainOptions) { o.idle = time.Duration(o.notNegative("RetainIdle", int(d))) }
}

// RetainAfterDemand sets how often a node is handed over after another client is known to wait. The default is 0: it is
// removed after the present hold.
func RetainAfterDemand(n int) RetainOption {
	return func(o *retainOptions) { o.afterDemand = o.notNegative("RetainAfterDemand", n) }
}

func (o *retainOptions) notNegative(name string, n int) int {
	o.problems.Refuse(n < 0, "%s must not be negative", name)
	return n
}

// Acquire waits for the lock, as [InterProcessMutex.Acquire] does, in the local queue and then at the servers. If a
// contender gives up, the next takes over its place there. Errors are the lock's.
func (l *RetainedLock) Acquire(ctx context.Context) (*Lease, error) {
	return l.recipe.acquire(ctx, l.reenter, l.contend)
}

// TryAcquire returns a Lease if no contender holds the lock or waits for it, even if this client retains its node;
// [ErrNotAcquired] otherwise. It blocks while this client asks whether others wait, until ctx ends or the connection
// timeout has passed. Other errors are the lock's.
func (l *RetainedLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return l.recipe.try(ctx, l.reenter, l.contendNow)
}

func (l *RetainedLock) identities() []identity { return l.recipe.identities() }

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
		return l.recipe.contenders(ctx, nil) // its error says what is wrong
	}
	return l.lock.Participants(ctx)
}

func (l *RetainedLock) String() string { return fmt.Sprintf("retained %v", l.lock) }

// Format is String by every verb.
func (l *RetainedLock) Format(f fmt.State, verb rune) { session.Format(f, verb, l) }
