package lockstest

import (
	"errors"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func sessionTrue() []law {
	return []law{
		{name: "G7 session-true/a waiter's session ends", run: aWaiterQueuesAgainInItsNewSession},
		{name: "G7 session-true/a holder's session ends", run: aLeaseDoesNotOutliveItsSession},
		{name: "G7 session-true/a release does not cross", run: aReleaseIsNotExecutedInTheNextSession},
		{name: "G7 session-true/a follower that lags", needs: []Capability{Followers}, unless: composed, run: anOldNodeOnALaggingFollowerGrantsNothing},
		{name: "G7 session-true/the present holder's own next", run: theNextSessionQueuesBehindTheOldOne},
	}
}

func aWaiterQueuesAgainInItsNewSession(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	c := w.client()
	old := c.session()
	waiter := c.queue()
	place := w.added(before)
	c.expire()
	w.until("it stands in the queue again", func() bool {
		now := w.added(append(before, place...))
		return len(now) >= 1 && len(w.added(before)) == len(now)
	})
	for _, node := range w.added(before) {
		if stat := w.server.Stat(node); stat == nil || stat.EphemeralOwner == old {
			t.Errorf("%s belongs to the session that has ended", node)
		}
	}
	held.release(t)
	lease := waiter.get()
	if !w.recipe.Composed && w.stat(lease).EphemeralOwner != c.session() {
		t.Errorf("got the node of session %#x, want %#x", w.stat(lease).EphemeralOwner, c.session())
	}
}

func aLeaseDoesNotOutliveItsSession(t testing.TB, w *world) {
	c := w.client()
	lease := c.start(c.lock()).get()
	ctx := lease.Context(t.Context())
	c.expire()
	err := w.ends(lease)
	if !errors.Is(err, locks.ErrLeaseLost) || !errors.Is(err, framework.ErrSessionLost) {
		t.Errorf("the lease ended with %v", err)
	}
	if got := lease.Release(); !errors.Is(got, locks.ErrLeaseLost) {
		t.Errorf("Release of a lost lease: %v", got)
	}
	if w.recipe.Reentrant {
		if again, err := c.lock().Acquire(ctx); !errors.Is(err, locks.ErrLeaseLost) {
			t.Errorf("re-entry with a lost lease: %v, %v", again, err)
		}
	}
	if err := c.start(c.lock()).get().Release(); err != nil { // as a new owner
		t.Error(err)
	}
}

// A removal that was asked for in one session must not remove anything in the next.
func aReleaseIsNotExecutedInTheNextSession(t testing.TB, w *world) {
	c := w.client(framework.WithConnectionTimeout(w.server.SessionTimeout() / 10))
	lease := c.start(c.lock()).get()
	session := c.session()
	c.link.Cut()
	if err := lease.Release(); err == nil {
		t.Error("got no error of a release without a connection, want one")
	}
	w.record.ExpireSession(c.link, session)
	c.link.Heal()
	next := c.acquired(w)
	if err := next.Err(); err != nil {
		t.Error(err)
	}
	c.link.Requests()
	w.pass(w.server.SessionTimeout() / 10)
	if n := c.link.Requests()[Delete]; n > 0 && !w.recipe.Gated {
		t.Errorf("%d deletions were sent in the new session", n)
	}
}

// acquired gets the lock; the client may have to connect first, for as long as it takes.
func (c *contact) acquired(w *world) *locks.Lease {
	w.t.Helper()
	if err := c.BlockUntilConnected(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return c.start(c.lock()).get()
}

// CURATOR-604: the follower that the waiter is connected with still lists the node of its old session as the next one
// to be let in, although the leader has removed it.
func anOldNodeOnALaggingFollowerGrantsNothing(t testing.TB, w *world) {
	ensemble, ok := w.server.(Ensemble)
	if !ok {
		t.Fatalf("got a backend %T without followers, want an Ensemble as it says", w.server)
	}
	held := w.client().fill()
	c := w.clientOn(ensemble.NewFollowerLink())
	waiter := c.queue()
	rival := w.client().queue()
	session := c.session()
	ensemble.SetLag(w.server.SessionTimeout() / 4)
	c.link.Reset()
	w.record.ExpireSession(c.link, session)
	held.release(t)
	next := rival.get()
	if w.recipe.Capacity == 1 {
		w.pass(w.server.SessionTimeout())
		waiter.isWaiting()
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
	lease := waiter.get()
	if stat := w.stat(lease); stat.EphemeralOwner != c.session() || stat.EphemeralOwner == session {
		t.Errorf("the lease's node belongs to %#x, the session is %#x, was %#x", stat.EphemeralOwner, c.session(), session)
	}
	ensemble.SetLag(0)
}

// A client that has lost its session to a mute network comes back before the server has noticed, and waits for itself.
func theNextSessionQueuesBehindTheOldOne(t testing.TB, w *world) {
	c := w.client()
	lease := c.fill()
	c.link.Mute()
	_ = w.ends(lease[0])
	next := c.start(c.lock())
	c.link.Heal()
	next.get()
	if until := lease[0].ValidUntil(); !until.Before(next.at) {
		t.Errorf("the old lease was valid until %v, the next was let in at %v", until, next.at)
	}
}
