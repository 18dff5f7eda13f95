package lockstest

import (
	"errors"
	"testing"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks"
)

func contended() []law {
	return []law{
		{name: "contended/by another client", run: contendedByAnotherClient},
		{name: "contended/by another goroutine", run: contendedByAnotherGoroutine},
		{name: "contended/before the first call", run: contendedBeforeTheFirstCall},
		{name: "contended/while the holder is cut off", run: contendedWhileCutOff},
		{name: "contended/not by those who hold it together", unless: exclusive, run: notContendedByOtherHolders},
		{name: "contended/not by tries", run: notContendedByTries},
		{name: "contended/not after the release", run: notContendedAfterTheRelease},
	}
}

func exclusive(r Recipe) string {
	if r.Capacity == 1 {
		return "it has one holder"
	}
	return ""
}

// isContended reports whether the channel of a lease is closed.
func isContended(l *locks.Lease) bool {
	select {
	case <-l.Contended():
		return true
	default:
		return false
	}
}

// become waits until all leases know that they are contended.
func (ls leases) become(w *world) {
	w.t.Helper()
	for _, l := range ls {
		await.Receive(w.t, w.limit(), "the lease to be contended", l.Contended())
	}
}

// listen has leases listen, and returns when they do: the servers watch the children of each directory.
func (ls leases) listen(w *world) {
	w.t.Helper()
	for _, l := range ls {
		if isContended(l) {
			w.t.Error("got a contended lease without contenders, want it uncontended")
		}
	}
	w.pass(w.server.SessionTimeout() / 20)
}

func contendedByAnotherClient(t testing.TB, w *world) {
	held := w.client().fill()
	held.listen(w)
	waiter := w.client().queue()
	held.become(w)
	waiter.cancel() // for good
	waiter.returned()
	held.become(w)
}

func contendedByAnotherGoroutine(_ testing.TB, w *world) {
	c := w.client()
	held := c.fill()
	held.listen(w)
	c.queue()
	held.become(w)
}

func contendedBeforeTheFirstCall(_ testing.TB, w *world) {
	held := w.client().fill()
	w.client().queue()
	held.become(w)
}

func contendedWhileCutOff(_ testing.TB, w *world) {
	c := w.client()
	held := c.fill()
	held.listen(w)
	c.link.Cut()
	w.client().queue()
	c.link.Heal()
	held.become(w)
}

func notContendedByOtherHolders(t testing.TB, w *world) {
	c := w.client()
	first := leases{c.hold()}
	first.listen(w)
	w.client().hold()
	c.hold()
	w.pass(w.server.SessionTimeout() / 20)
	if isContended(first[0]) {
		t.Error("got a lease contended by a contender that may share it, want it uncontended")
	}
	if w.recipe.Rival == nil {
		return
	}
	rival := w.client()
	rival.start(rival.rival())
	first.become(w)
}

func notContendedByTries(t testing.TB, w *world) {
	held := w.client().fill()
	held.listen(w)
	c := w.client()
	for range 3 {
		if lease, err := c.lock().TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("TryAcquire of a taken lock: got %v, %v, want ErrNotAcquired", lease, err)
		}
	}
	w.pass(w.server.SessionTimeout() / 20)
	for _, l := range held {
		if isContended(l) {
			t.Error("got a lease contended by a try that wrote nothing, want it uncontended")
		}
	}
}

func notContendedAfterTheRelease(t testing.TB, w *world) {
	c := w.client()
	held := c.fill()
	held.listen(w)
	held.release(t)
	w.client().fill()
	w.client().queue()
	w.pass(w.server.SessionTimeout() / 20)
	for _, l := range held {
		if isContended(l) {
			t.Error("got a released lease contended, want it uncontended")
		}
	}
	if c.start(c.rival()); isContended(held[0]) {
		t.Error("got a released lease contended, want it uncontended")
	}
}
