package lockstest

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gocurator/curator/recipes/locks"
)

// lastNumber is the greatest number that a contender may have.
const lastNumber = math.MaxInt32 - 1<<16

// setCounters makes n the next number where contenders queue. Leases of a semaphore have no order: their counter is at
// its end.
func (w *world) setCounters(n int32) {
	w.t.Helper()
	counters, ok := w.server.(CounterSetter)
	if !ok {
		w.t.Fatalf("got a backend %T that cannot set counters, want a CounterSetter as it says", w.server)
	}
	w.makeDirs()
	for _, dir := range w.dirs() {
		if w.recipe.Gated && dir != w.gate() {
			counters.SetCounter(dir, math.MaxInt32-2)
		} else {
			counters.SetCounter(dir, n)
		}
	}
}

// gate is the directory in which contenders queue.
func (w *world) gate() string {
	dirs := w.dirs()
	return dirs[len(dirs)-1]
}

func theOrderLastsUpToTheEnd(t testing.TB, w *world) {
	w.setCounters(lastNumber - 30)
	holder := w.client()
	servedInOrder(t, holder, w.clients(6))
	for range 40 {
		switch lease, err := holder.lock().Acquire(t.Context()); {
		case errors.Is(err, locks.ErrCounterExhausted):
			w.isLeftAlone(holder)
			return
		case err != nil:
			t.Fatal(err)
		default:
			if err := lease.Release(); err != nil {
				t.Error(err)
			}
			if w.recipe.Retained {
				w.isRemoved()
			}
		}
	}
	t.Error("got 40 acquisitions of 30 numbers, want ErrCounterExhausted")
}

// isLeftAlone checks that a client which was refused takes no further number.
func (w *world) isLeftAlone(c *contact) {
	w.t.Helper()
	w.untilGone("the refused node has gone", func() bool { return len(w.server.Children(w.gate())) == 0 })
	before := w.server.Stat(w.gate()).Cversion
	for _, acquire := range []func(context.Context) (*locks.Lease, error){c.lock().Acquire, c.lock().TryAcquire} {
		if lease, err := acquire(w.t.Context()); !errors.Is(err, locks.ErrCounterExhausted) {
			w.t.Errorf("after a refusal: %v, %v, want ErrCounterExhausted", lease, err)
		}
	}
	if after := w.server.Stat(w.gate()).Cversion; after != before {
		w.t.Errorf("the version of %s's children went from %d to %d", w.gate(), before, after)
	}
}

// The numbers that servers give beyond the end sort before all others, or are equal: no contender is let in. A
// directory that is deleted and created again has a new counter.
func nobodyIsLetInBeyondTheEnd(t testing.TB, w *world) {
	w.setCounters(math.MaxInt32 - 1)
	var line []*attempt
	for _, c := range w.clients(4) {
		line = append(line, c.start(c.lock()), c.start(c.lock()))
	}
	for _, a := range line {
		if a.returned(); !errors.Is(a.err, locks.ErrCounterExhausted) {
			t.Errorf("beyond the end: %v, %v, want ErrCounterExhausted", a.lease, a.err)
		}
	}
	for _, dir := range slices.Backward(w.dirs()) {
		w.untilGone("everything has left "+dir, func() bool { return len(w.server.Children(dir)) == 0 })
		w.server.Delete(dir)
	}
	late := w.client()
	if err := late.start(late.lock()).get().Release(); err != nil {
		t.Error(err)
	}
}
