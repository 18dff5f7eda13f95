package leader

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/listen"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/internal/lockopt"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// latchMarker stands in the names of latches' nodes. No other nodes count in their queue.
const latchMarker = "latch-"

// A LeaderLatch stands for election from Start to Close: it leads when its turn comes, and stands again when it has
// lost a term. It runs no function; the program asks HasLeadership, waits with Await, or hears of changes from
// OnChange.
//
// It stands in one queue with Java's LeaderLatch, and with no LeaderSelector or lock. Its methods are safe for
// concurrent use, also from a listener.
//
// Nothing should write to the node of a latch: a Java latch that waits behind it would not hear of its end any more. So
// nothing asks a latch's term to leave: its RevocationRequested is never closed.
//
// Curator: LeaderLatch.
type LeaderLatch struct {
	election
	id    string
	stood session.Waiter // has news when the latch has got a node

	mu ranked.Mutex[ranked.Recipe, LeaderLatch]
	standing[*locks.Lease]
	trouble   session.Trouble
	begun     bool // Start has returned nil
	stop      context.CancelFunc
	done      chan struct{} // closed when run has returned
	changed   chan struct{} // closed at the next change of term, failed or closed
	listeners *listen.Listeners[*locks.Lease]
}

var (
	// ErrStarted says that a latch was started or closed before.
	ErrStarted = errors.New("leader: latch was started before")
	// ErrNotStarted says that a latch was not started, or is closed.
	ErrNotStarted = errors.New("leader: latch is not started")
)

// NewLeaderLatch returns a participant of the election at path, which stands for it from Start on. It does no I/O.
// Start reports a nil client, an invalid path or a wrong option.
//
// The nodes below path belong to the election; nothing else should be put there.
//
// Curator: new LeaderLatch(client, latchPath, id).
func NewLeaderLatch(client *framework.Client, path string, opts ...Option) *LeaderLatch {
	o := newOptions(opts)
	l := &LeaderLatch{
		election: newElection(client, path, map[string]bool{latchMarker: false}, o.problems), id: o.id,
		stood: session.NewWaiter(), changed: make(chan struct{}), listeners: listen.NewListeners(listen.Every[*locks.Lease]),
	}
	l.lock = locks.NewInterProcessMutex(client, path,
		locks.WithTrace(o.trace), locks.WithLockData([]byte(o.id)), // as in Java, also an empty one
		func(o *lockopt.Options) { o.Waiting = l.stands },
		lockopt.Variant{Marker: latchMarker, Ended: l.ended}.Set)
	return l
}

// ID is the id given by [WithID].
//
// Curator: LeaderLatch.getId().
func (l *LeaderLatch) ID() string { return l.id }

// Await blocks until the latch leads, and returns its term; at once if it leads already. The latch releases the term in
// Close. A term that the program releases itself is over, too, and the latch stands again behind the others.
//
// Errors: the end of ctx; [ErrNotStarted] before Start, and when the latch is closed; that of the last campaign if it
// has failed, although the latch tries again.
//
// Curator: LeaderLatch.await().
func (l *LeaderLatch) Await(ctx context.Context) (*locks.Lease, error) {
	for {
		l.mu.Lock()
		now, changed := l.standing, l.changed
		l.mu.Unlock()
		if term, waits, err := now.await(isOver); !waits {
			return term, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, l.wrap("await", retry.ContextError(ctx))
		}
	}
}

// HasLeadership reports whether the latch leads. It does no I/O, and compares the time: after a loss it is false, also
// right after the process was suspended.
//
// Curator: LeaderLatch.hasLeadership().
func (l *LeaderLatch) HasLeadership() bool {
	l.mu.Lock()
	now := l.standing
	l.mu.Unlock()
	return now.leads() && !isOver(now.term)
}

// isOver reports whether a term has ended, by the time too.
func isOver(term *locks.Lease) bool { return term.Err() != nil }

// Close ends the term, if the latch leads, has the listeners called, and then removes its node, so that the next
// participant leads. It blocks until the server has confirmed the removal, for at most the client's connection timeout.
// The latch cannot be started again.
//
// Errors: a [*locks.ReleaseError] if the removal of a leader's node is not confirmed; it goes on in the background.
// Closing again does nothing, and returns nil.
//
// Curator: LeaderLatch.close().
func (l *LeaderLatch) Close() error {
	l.mu.Lock()
	again, stop, done := l.close(), l.stop, l.done
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	<-done
	l.mu.Lock()
	defer l.mu.Unlock()
	if again {
		return nil
	}
	if l.left != nil {
		return fmt.Errorf("leader: close of latch at %q: %w", l.path, l.left)
	}
	return nil
}

// Leader is [LeaderSelector.Leader].
//
// Curator: LeaderLatch.getLeader().
func (l *LeaderLatch) Leader(ctx context.Context) (Participant, error) { return l.leader(ctx) }

// Participants is [LeaderSelector.Participants].
//
// Curator: LeaderLatch.getParticipants().
func (l *LeaderLatch) Participants(ctx context.Context) ([]Participant, error) {
	return l.participants(ctx)
}

// Observe is [LeaderSelector.Observe].
func (l *LeaderLatch) Observe(ctx context.Context) iter.Seq2[Participant, error] {
	return l.observe(ctx)
}
