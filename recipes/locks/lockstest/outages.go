package lockstest

import (
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func outages() []law {
	return []law{
		{name: "G10 outages are waited out/shorter than the session", run: aWaiterKeepsItsPlaceThroughAnOutage},
		{name: "G10 outages are waited out/longer than the session", run: aWaiterQueuesAgainAfterALongOutage},
		{name: "G10 outages are waited out/between lapse and session", unless: composed, run: aWaiterKeepsItsPlaceWhenALeaseHasLapsed},
		{name: "G10 outages are waited out/the server restarts", run: holderAndWaiterSurviveARestart},
		{name: "G10 outages are waited out/the holder leaves meanwhile", run: aReleaseDuringAWaitersOutageIsNoticed},
		{name: "G10 outages are waited out/again and again", run: aWaiterSurvivesManyCuts},
		{name: "G10 outages are waited out/a lapsed lease's node is removed", run: aLapsedLeaseLetsTheNextIn},
	}
}

func aWaiterKeepsItsPlaceThroughAnOutage(t testing.TB, w *world) {
	w.tries(func() bool {
		held := w.client().fill()
		before := w.nodes()
		c := w.client()
		first := c.queue()
		place := w.added(before)
		second := w.client().queue()
		session := c.session()
		c.link.Cut()
		w.pass(w.server.SessionTimeout() / 2)
		c.link.Heal()
		if err := c.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.session() != session {
			held.release(t)
			_, _ = second.get().Release(), first.get().Release()
			return false // the outage was too long
		}
		first.isWaiting()
		for _, node := range place {
			if w.server.Stat(node) == nil {
				t.Errorf("it has lost its place: %s is gone, there are %v", node, w.nodes())
			}
		}
		w.letsIn(held, first, second)
		return true
	})
}

func aWaiterQueuesAgainAfterALongOutage(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	c := w.client(framework.WithConnectionTimeout(w.server.SessionTimeout() / 10))
	first := c.queue()
	place := w.added(before)
	second := w.client().queue()
	c.link.Cut()
	w.until("its node goes with the session", func() bool { return w.server.Stat(place[0]) == nil })
	w.pass(w.server.SessionTimeout())
	first.isWaiting()
	c.link.Heal()
	first.waits()
	w.letsIn(held, second, first)
}

// The outage ends one of the client's leases, but not its session: a wait of the same client goes on.
func aWaiterKeepsItsPlaceWhenALeaseHasLapsed(t testing.TB, w *world) {
	w.tries(func() bool {
		held := w.client().fill()
		before := w.nodes()
		c := w.client()
		elsewhere, err := w.recipe.New(c.Client, w.path+"-elsewhere").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waiter := c.queue()
		place := w.added(before)
		session := c.session()
		// now its lease lives by renewals, a quarter of the session shorter than the session
		w.pass(w.server.SessionTimeout())
		c.link.Cut()
		lapsed := w.ends(elsewhere)
		c.link.Heal()
		if err := c.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.session() != session {
			held.release(t)
			_ = waiter.get().Release()
			return false // the outage was too long
		}
		if !errors.Is(lapsed, framework.ErrNotRenewed) {
			t.Errorf("the lease ended with %v", lapsed)
		}
		waiter.isWaiting()
		held.release(t)
		lease := waiter.get()
		if got := w.node(lease); w.recipe.Dirs == nil && got != place[0] {
			t.Errorf("it was let in on %s, it stood at %s", got, place[0])
		}
		return true
	})
}

func holderAndWaiterSurviveARestart(t testing.TB, w *world) {
	holder := w.client()
	held := holder.fill()
	before := w.nodes()
	waiter := w.client().queue()
	place := w.added(before)
	w.disturb()
	w.server.Restart()
	if err := holder.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.until("the waiter keeps its place, or the restart outlasts a lease", func() bool {
		return held.lost() != nil || len(w.added(before)) == len(place)
	})
	waits := !waiter.hasReturned() // before the lease: a loss after this look lets no waiter in before it
	if err := held.lost(); err != nil {
		losesByASlowRestart(t, held, waiter, err)
		return
	}
	if !waits {
		t.Errorf("it should still wait, got %v, %v", waiter.lease, waiter.err)
	}
	for _, lease := range held {
		err := lease.Release() // it can also be lost after the look
		if err != nil && !errors.Is(err, locks.ErrLeaseLost) && !errors.Is(err, framework.ErrSessionLost) {
			t.Error(err)
		}
	}
	waiter.get()
}

// losesByASlowRestart is for a restart that outlasts the lease, as it does on a busy machine: the lease was lost for
// want of answers, and the waiter, in its old place or in a new one, is let in.
func losesByASlowRestart(t testing.TB, held leases, waiter *attempt, err error) {
	if !errors.Is(err, locks.ErrLeaseLost) || !errors.Is(err, framework.ErrNotRenewed) && !errors.Is(err, framework.ErrSessionLost) {
		t.Errorf("the lease ended with %v", err)
	}
	for _, lease := range held {
		_ = lease.Release()
	}
	waiter.get()
}

// The event is lost with the connection: the waiter has to look for itself.
func aReleaseDuringAWaitersOutageIsNoticed(t testing.TB, w *world) {
	held := w.client().fill()
	c := w.client()
	waiter := c.queue()
	c.link.Cut()
	held.release(t)
	w.pass(w.server.SessionTimeout() / 20)
	waiter.isWaiting()
	c.link.Heal()
	waiter.get()
}

func aWaiterSurvivesManyCuts(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	c := w.client()
	waiter := c.queue()
	place := w.added(before)
	for range 15 { // more than any retry policy allows for one operation
		c.link.Reset()
		w.pass(w.server.SessionTimeout() / 50)
	}
	waiter.isWaiting()
	for _, node := range place {
		if w.server.Stat(node) == nil {
			t.Errorf("it has lost its place %s", node)
		}
	}
	held.release(t)
	waiter.get()
}

// A lease has lapsed and its session lives on: then it is for the client to remove the node, or it would stand in
// everybody's way for as long as the session lives.
func aLapsedLeaseLetsTheNextIn(t testing.TB, w *world) {
	w.tries(func() bool {
		c := w.client()
		held := c.fill()
		next := w.client().queue()
		session := c.session()
		w.pass(w.server.SessionTimeout())
		c.link.Cut()
		for _, lease := range held {
			_ = w.ends(lease)
		}
		healed := time.Now()
		c.link.Heal()
		lease := next.get()
		if c.session() != session {
			_ = lease.Release()
			return false // the outage was too long
		}
		w.soon("the admission of the next after the connection was there again", next.at.Sub(healed), w.server.SessionTimeout()/2)
		return true
	})
}
