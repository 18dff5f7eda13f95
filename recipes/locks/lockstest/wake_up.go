package lockstest

import (
	"context"
	"sync"
	"testing"
)

func oneWakeUp() []law {
	return []law{
		{name: "G4 one wake-up/a waiter's watches", run: waitersWatchTheirOwnNodeAndOneMore},
		{name: "G4 one wake-up/a release", run: aReleaseWakesOne},
		{name: "G4 one wake-up/a thousand who gave up", run: givingUpLeavesNothing},
		{name: "G4 one wake-up/giving up one after the other", run: givingUpInTurnLeavesNothing},
	}
}

func waitersWatchTheirOwnNodeAndOneMore(t testing.TB, w *world) {
	const waiters = 5
	held := w.client().fill()
	w.watching(held, 0) // a retained lock asks for one of its own after it was let in
	for i, c := range w.clients(waiters) {
		c.queue()
		w.watching(held, i+1)
	}
}

// watches is how many watches there are at the server when waiters of as many clients wait for leases.
func (w *world) watches(held leases, waiters int) int {
	if w.recipe.Watches == nil {
		return len(held) + 2*waiters
	}
	return w.recipe.Watches(len(held), waiters)
}

// watching waits until the servers have the watches of waiters of as many clients, and no others.
func (w *world) watching(held leases, waiters int) {
	w.t.Helper()
	w.until("the waiters watch their own nodes and the ones ahead", func() bool {
		return w.server.AllWatches() == w.watches(held, waiters)
	})
}

// A release is heard by the next contender, which is let in, and by the one after that, which learns that it is next
// now. All others send nothing.
func aReleaseWakesOne(t testing.TB, w *world) {
	held := w.client().fill()
	clients := w.clients(5)
	var line []*attempt
	for i, c := range clients {
		line = append(line, c.queue())
		w.watching(held, i+1)
	}
	w.pass(w.server.SessionTimeout() / 100)
	dials := 0
	for _, c := range clients {
		c.link.Requests()
		dials -= c.link.Dials()
	}
	held.release(t)
	line[0].get()
	w.pass(w.server.SessionTimeout() / 100)
	awake, listings := 0, 1
	if w.recipe.Retained { // it is the holder then
		listings++
	}
	for _, c := range clients {
		dials += c.link.Dials()
		if sent := c.link.Requests(); len(sent) > 0 {
			awake++
			if w.recipe.Dirs == nil && sent[GetChildren] > listings {
				t.Errorf("the waiter that was woken sent %v", sent)
			}
		}
	}
	want := 2
	switch {
	case w.recipe.Gated:
		want = w.recipe.Capacity + 2 // the next in the gate becomes the front waiter
	case w.recipe.Capacity != 1:
		want = len(clients) // all who may come in together wake together
	}
	if awake > want && (w.exact || dials == 0) { // a client that reconnects sets its watches again
		t.Errorf("%d were woken, want %d", awake, want)
	}
}

// A client gives up a thousand times behind one long hold.
func givingUpLeavesNothing(t testing.TB, w *world) {
	const times, together = 1000, 50
	held := w.client().fill()
	w.watching(held, 0)
	nodes, watches := w.nodes(), w.server.AllWatches()
	c := w.client()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range times / together {
		ctx, cancel := context.WithTimeout(ctx, w.server.SessionTimeout()/20)
		var wg sync.WaitGroup
		for range together {
			wg.Go(func() {
				if lease, err := c.lock().Acquire(ctx); err == nil {
					t.Errorf("acquired a taken lock: %v", lease)
				}
			})
		}
		wg.Wait()
		cancel()
		if n := w.server.AllWatches(); n > watches+2*together {
			t.Fatalf("%d watches", n)
		}
	}
	w.untilGone("no node is left", func() bool { return len(w.nodes()) == len(nodes) })
	w.untilGone("no watch is left", func() bool { return w.server.AllWatches() == watches })
	held.release(t)
}

// The same with one waiter at a time, which stands next to the holder each time.
func givingUpInTurnLeavesNothing(t testing.TB, w *world) {
	w.watching(w.client().fill(), 0)
	c := w.client()
	node, watches := w.nodes()[0], w.server.AllWatches()
	for range 50 {
		a := c.queue()
		a.cancel()
		a.returned()
		if n := w.server.Watches(node); n > 2 {
			t.Fatalf("%d watches on the holder's node", n)
		}
	}
	w.untilGone("no watch is left", func() bool { return w.server.AllWatches() == watches })
}
