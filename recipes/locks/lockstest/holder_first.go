package lockstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func holderFirst() []law {
	return []law{
		{name: "G2 the holder knows first/a mute network", run: aMutedHolderKnowsBeforeTheNext},
		{name: "G2 the holder knows first/idle, acquire, cut", run: anIdleSessionsLeaseEndsInTime},
		{name: "G2 the holder knows first/a follower without its leader", needs: []Capability{Followers}, run: anIsolatedHolderKnowsBeforeTheNext},
		{name: "G2 the holder knows first/while the ensemble answers", run: validityNeverMovesBack},
		{name: "G2 the holder knows first/contexts", run: contextsEndWithTheLease},
		{name: "G2 the holder knows first/StandardErrorPolicy", run: theStandardPolicyEndsLeasesAtSuspension},
	}
}

// A witness sees when leases end: with Done, and by the clock.
type witness struct {
	w     *world
	lease *locks.Lease
	until time.Time     // the last ValidUntil that was seen before the end
	over  chan struct{} // closed after at and cause are written
	at    time.Time
	cause error
}

func (w *world) watch(lease *locks.Lease) *witness {
	seen := &witness{w: w, lease: lease, until: lease.ValidUntil(), over: make(chan struct{})}
	go func() {
		defer close(seen.over)
		<-lease.Done()
		seen.at, seen.cause = time.Now(), lease.Err()
	}()
	return seen
}

// before checks that the lease had ended when the next was let in. Which of the two goroutines ran first is a question
// for a bubble only.
func (s *witness) before(next time.Time) {
	t := s.w.t
	t.Helper()
	select {
	case <-s.over:
	case <-s.w.patience():
		t.Fatal("got the next one admitted before the holder heard of its loss, want it after")
	}
	if until := s.lease.ValidUntil(); !until.Before(next) {
		violated(t)
		t.Errorf("the lease was valid until %v, the next was let in at %v", until, next)
	}
	if !errors.Is(s.cause, locks.ErrLeaseLost) {
		t.Errorf("the lease ended with %v", s.cause)
	}
	if s.w.exact && !s.at.Before(next) {
		t.Errorf("Done was closed at %v, the next was let in at %v", s.at, next)
	}
}

func (w *world) witnesses(held leases) []*witness {
	all := make([]*witness, len(held))
	for i, lease := range held {
		all[i] = w.watch(lease)
	}
	return all
}

// The network is partitioned at many different moments of the session's heartbeat.
func aMutedHolderKnowsBeforeTheNext(t testing.TB, w *world) {
	const moments = 5
	timeout := w.server.SessionTimeout()
	for moment := range moments {
		holder := w.client()
		held := holder.fill()
		waiter := w.client().queue()
		w.pass(timeout / 4 * time.Duration(moment) / moments)
		seen := w.witnesses(held)
		holder.link.Mute()
		waiter.get()
		for _, s := range seen {
			s.before(waiter.at)
		}
		if err := waiter.lease.Release(); err != nil {
			t.Error(err)
		}
		holder.link.Heal()
		w.untilGone("nothing is left", func() bool { return len(w.nodes()) == 0 })
	}
}

// While nothing is held the session is kept by pings alone. What counts for a lease must not be how old they are.
func anIdleSessionsLeaseEndsInTime(t testing.TB, w *world) {
	holder, next := w.client(), w.client()
	timeout := w.server.SessionTimeout()
	for _, idle := range []time.Duration{timeout / 3, timeout * 2 / 3, timeout * 3 / 2} {
		w.pass(idle)
		seen := w.witnesses(holder.fill())
		holder.link.Cut()
		waiter := next.start(next.lock())
		waiter.get()
		for _, s := range seen {
			s.before(waiter.at)
		}
		if err := waiter.lease.Release(); err != nil {
			t.Error(err)
		}
		holder.link.Heal()
		if err := holder.BlockUntilConnected(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// The follower goes on answering the holder's pings and reads, while the leader ends its session.
func anIsolatedHolderKnowsBeforeTheNext(t testing.TB, w *world) {
	ensemble, ok := w.server.(Ensemble)
	if !ok {
		t.Fatalf("got a backend %T without followers, want an Ensemble as it says", w.server)
	}
	timeout := w.server.SessionTimeout()
	const moments = 16 // spread over the heartbeats of the session
	for moment := range moments {
		holder := w.clientOn(ensemble.NewFollowerLink())
		held := holder.fill()
		waiter := w.client().queue()
		w.pass(timeout + timeout*time.Duration(moment)/moments)
		seen := w.witnesses(held)
		holder.reads(timeout)
		// The follower has heard from the session, and may not have reported that to its leader, although a majority
		// has answered since: a deletion that fails is written down, too.
		if err := holder.Delete(t.Context(), "/there/is/no/such/node", -1); !errors.Is(err, zk.ErrNoNode) {
			t.Error(err)
		}
		ensemble.Isolate()
		w.pass(timeout / 16)
		holder.reads(timeout / 16)
		waiter.get()
		for _, s := range seen {
			s.before(waiter.at)
		}
		if err := waiter.lease.Release(); err != nil {
			t.Error(err)
		}
		ensemble.Rejoin()
		w.untilGone("nothing is left", func() bool { return len(w.nodes()) == 0 })
	}
}

// reads has the server at hand answer, if it does.
func (c *contact) reads(patience time.Duration) {
	ctx, cancel := context.WithTimeout(c.w.t.Context(), patience)
	defer cancel()
	_, _ = c.Exists(ctx, "/")
}

func validityNeverMovesBack(t testing.TB, w *world) {
	lease := w.client().start(w.client().lock()).get()
	timeout := w.server.SessionTimeout()
	last := lease.ValidUntil()
	for range 60 {
		w.pass(timeout / 20)
		now, until := time.Now(), lease.ValidUntil()
		if until.Before(last) {
			t.Fatalf("ValidUntil moved back from %v to %v", last, until)
		}
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
		if left := until.Sub(now); left <= 0 || left > timeout {
			t.Errorf("the lease has %v to live, of a session of %v", left, timeout)
		}
		last = until
	}
}

func contextsEndWithTheLease(t testing.TB, w *world) {
	holder := w.client()
	lease := holder.start(holder.lock()).get()
	ctx := lease.Context(t.Context())
	holder.link.Mute()
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, locks.ErrLeaseLost) || !errors.Is(cause, framework.ErrNotRenewed) {
		t.Errorf("the context ended with %v", cause)
	}
	if now, until := time.Now(), lease.ValidUntil(); now.Before(until) {
		t.Errorf("the context ended at %v, before ValidUntil %v", now, until)
	}
}

func theStandardPolicyEndsLeasesAtSuspension(t testing.TB, w *world) {
	holder := w.client(framework.WithErrorPolicy(framework.StandardErrorPolicy))
	lease := holder.start(holder.lock()).get()
	session := holder.session()
	holder.link.Reset()
	if err := w.ends(lease); !errors.Is(err, framework.ErrSuspended) {
		t.Errorf("the lease ended with %v", err)
	}
	w.untilGone("the node is removed in the same session", func() bool { return len(w.nodes()) == 0 })
	if got := holder.session(); got != session {
		t.Errorf("the session is %#x, was %#x", got, session)
	}
}
