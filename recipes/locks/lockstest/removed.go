package lockstest

import (
	"errors"
	"testing"

	"github.com/gocurator/curator/recipes/locks"
)

func removedByHand() []law {
	return []law{
		{name: "G8 removed by hand/a holder's node", unless: composed, run: aHolderWhoseNodeIsRemovedLosesTheLock},
		{name: "G8 removed by hand/a waiter's node", run: aWaiterWhoseNodeIsRemovedQueuesAtTheTail},
		{name: "G8 removed by hand/right after the admission", unless: composed, run: aNodeThatIsRemovedAtOnceIsNoticed},
		{name: "G8 removed by hand/without a connection", unless: composed, run: aRemovalDuringAnOutageIsNoticed},
		{name: "G8 removed by hand/changed data is no removal", unless: composed, run: changedDataIsNoRemoval},
	}
}

func aHolderWhoseNodeIsRemovedLosesTheLock(t testing.TB, w *world) {
	c := w.client()
	lease := c.fill()[0]
	next := w.client().queue()
	ctx := lease.Context(t.Context())
	w.server.Delete(w.node(lease))
	if err := w.ends(lease); !errors.Is(err, locks.ErrLeaseLost) || !errors.Is(err, locks.ErrRemoved) {
		t.Errorf("the lease ended with %v", err)
	}
	if <-ctx.Done(); lease.Err() == nil {
		t.Error("got a lease that lasts after its context ended, want it ended")
	}
	if err := lease.Release(); !errors.Is(err, locks.ErrLeaseLost) {
		t.Errorf("Release: %v", err)
	}
	next.get()
}

func aNodeThatIsRemovedAtOnceIsNoticed(t testing.TB, w *world) {
	c := w.client()
	for range 10 {
		lease := c.start(c.lock()).get()
		w.server.Delete(w.node(lease))
		if err := w.ends(lease); !errors.Is(err, locks.ErrRemoved) {
			t.Errorf("the lease ended with %v", err)
		}
	}
}

func aRemovalDuringAnOutageIsNoticed(t testing.TB, w *world) {
	c := w.client()
	lease := c.start(c.lock()).get()
	c.link.Cut()
	w.server.Delete(w.node(lease))
	c.link.Heal()
	if err := w.ends(lease); !errors.Is(err, locks.ErrRemoved) {
		t.Errorf("the lease ended with %v", err)
	}
}

func aWaiterWhoseNodeIsRemovedQueuesAtTheTail(t testing.TB, w *world) {
	held := w.client().fill()
	before := w.nodes()
	first := w.client().queue()
	place := w.added(before)
	second := w.client().queue()
	w.server.Delete(place[len(place)-1])
	first.waits()
	if now := w.server.Stat(place[len(place)-1]); now != nil {
		t.Errorf("got node %+v under the old name, want another", now)
	}
	w.letsIn(held, second, first)
}

// Another client asks the holder to let go by changing its node; it keeps the lock.
func changedDataIsNoRemoval(t testing.TB, w *world) {
	c := w.client()
	lease := c.fill()[0]
	next := w.client().queue()
	admin := w.client()
	for range 3 {
		if _, err := admin.Set(t.Context(), w.node(lease), []byte("__REVOKE__"), -1); err != nil {
			t.Fatal(err)
		}
	}
	next.isWaiting()
	if err := lease.Err(); err != nil {
		t.Error(err)
	}
	w.server.Delete(w.node(lease))
	if err := w.ends(lease); !errors.Is(err, locks.ErrRemoved) {
		t.Errorf("after the changes its removal was not noticed: %v", err)
	}
	next.get()
}
