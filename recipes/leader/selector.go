package leader

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/locks"
)

// A LeaderSelector elects one of the processes that stand for election at a path, runs its function while it leads, and
// lets the next one lead when the function returns. Participants lead in the order in which they came.
//
// It is a [locks.InterProcessMutex] whose nodes have an id as their data. So it stands in one queue with Java's
// LeaderSelector, and with mutexes at the same path. Its methods are safe for concurrent use; each Campaign is a
// participant of its own.
//
// Curator: LeaderSelector.
type LeaderSelector struct {
	election
	id   string
	opts []locks.Option

	mu    ranked.Mutex[ranked.Leaf, LeaderSelector]
	terms map[*locks.Lease]struct{} // terms that may not have ended
}

// NewLeaderSelector returns a participant of the election at path. It does no I/O. The first call on the selector
// reports a nil client, an invalid path or a wrong option.
//
// The nodes below path belong to the election; nothing else should be put there.
//
// Curator: new LeaderSelector(client, leaderPath, listener).
func NewLeaderSelector(client *framework.Client, path string, opts ...Option) *LeaderSelector {
	o := newOptions(opts)
	s := &LeaderSelector{
		election: newElection(client, path, queue.LockMarkers(), o.problems), id: o.id, terms: map[*locks.Lease]struct{}{},
	}
	s.opts = []locks.Option{locks.WithTrace(o.trace)}
	if o.id != "" {
		s.opts = append(s.opts, locks.WithLockData([]byte(o.id)))
	}
	s.lock = locks.NewInterProcessMutex(client, path, s.opts...)
	return s
}

// ID is the id given by [WithID].
//
// Curator: LeaderSelector.getId().
func (s *LeaderSelector) ID() string { return s.id }

// Campaign blocks until this participant leads, and returns its term of office. Release resigns: it ends the term, and
// then removes its node, so that the next participant leads. The term is lost, and its contexts end, before another
// participant can lead.
//
// It blocks, fails and cleans up as [locks.InterProcessMutex.Acquire] does. ctx bounds the wait and not the term. A ctx
// that owns a term of this election, from the term's Context, leads already: Campaign re-enters without I/O, and the
// term ends with its last Release.
//
// Curator: LeaderSelector.start(), up to takeLeadership().
func (s *LeaderSelector) Campaign(ctx context.Context) (*locks.Lease, error) {
	return s.campaign(ctx, s.lock)
}

func (s *LeaderSelector) campaign(ctx context.Context, lock *locks.InterProcessMutex) (*locks.Lease, error) {
	if s.err != nil {
		return nil, &locks.AcquireError{Path: s.path, Err: s.err}
	}
	term, err := lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.terms[term] = struct{}{}
	s.mu.Unlock()
	context.AfterFunc(term.Context(context.WithoutCancel(ctx)), func() { s.forget(term) })
	return term, nil
}

func (s *LeaderSelector) forget(term *locks.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.terms, term)
}

// HasLeadership reports whether this selector leads. It does no I/O, and compares the time: after a loss it is false,
// also right after the process was suspended.
//
// Curator: LeaderSelector.hasLeadership().
func (s *LeaderSelector) HasLeadership() bool {
	s.mu.Lock()
	terms := slices.AppendSeq(make([]*locks.Lease, 0, len(s.terms)), maps.Keys(s.terms))
	s.mu.Unlock()
	// Without mu: a term that is found to be over calls its followers.
	return slices.ContainsFunc(terms, func(term *locks.Lease) bool { return term.Err() == nil })
}

// Leader returns the participant whose node is the first one, whether it knows that it leads or not. It blocks like
// every operation of package framework. Errors: [ErrNoLeader] if no participant stands for election; those of package
// framework.
//
// Curator: LeaderSelector.getLeader().
func (s *LeaderSelector) Leader(ctx context.Context) (Participant, error) { return s.leader(ctx) }

// Participants returns all participants in the order in which they lead, the leader first. There are none at a path
// that does not exist. It blocks like every operation of package framework, and returns their errors.
//
// Curator: LeaderSelector.getParticipants().
func (s *LeaderSelector) Participants(ctx context.Context) ([]Participant, error) {
	return s.participants(ctx)
}

// Observe yields the present leader, and then each new one; the zero Participant while there is no leader. A leader may
// be skipped that was followed by another one before the loop came to it. Observe takes no part in the election, and
// outlasts lost connections and sessions. While the client is not connected it yields nothing.
//
// The sequence ends when the loop breaks, or with an error, which is the last element: that of the end of ctx;
// framework.ErrClosed; a *framework.ConnectError if there is no connection to begin with; the servers' answer, such as
// zk.ErrNoAuth, or framework.ErrNoChroot if they lack the client's chroot. Nothing is left behind at the servers. The
// loop's body may take its time, and may use the client.
func (s *LeaderSelector) Observe(ctx context.Context) iter.Seq2[Participant, error] {
	return s.observe(ctx)
}
