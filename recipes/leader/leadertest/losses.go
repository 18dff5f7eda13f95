package leadertest

import (
	"errors"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

func mute(w *world) { isolated(w, func(c *candidate) { c.link.Mute() }) }
func cut(w *world)  { isolated(w, func(c *candidate) { c.link.Cut() }) }

func isolated(w *world, isolate func(c *candidate)) {
	a, b := w.candidate("a").stand(), w.candidate("b")
	term := a.lead()
	b.stand()
	isolate(a)
	next := b.lead()
	b.alone()
	if !errors.Is(term.Err(), locks.ErrLeaseLost) {
		w.t.Errorf("the term has ended with %v when the next one begins", term.Err())
	}
	if until := term.ValidUntil(); until.After(time.Now()) {
		w.t.Errorf("the term was valid until %v, after the next one began", until)
	}
	grew(w, term, next)
}

// lost wants a term to end by a loss.
func lost(w *world, term *locks.Lease) {
	w.t.Helper()
	select {
	case <-term.Done():
	case <-time.After(patience):
		if term.Err() == nil {
			w.t.Fatalf("got a term that lasts for %v, want it ended", patience)
		}
	}
	if err := term.Err(); !errors.Is(err, locks.ErrLeaseLost) {
		w.t.Errorf("the term has ended with %v, want a loss", err)
	}
}

// grew wants the token of the next term to be greater.
func grew(w *world, term, next *locks.Lease) {
	w.t.Helper()
	if next.FencingToken() <= term.FencingToken() {
		w.t.Errorf("got token %d after %d", next.FencingToken(), term.FencingToken())
	}
}

func sessionEnds(w *world) {
	a, b := w.candidate("a").stand(), w.candidate("b")
	term := a.lead()
	b.stand()
	s, err := a.client.Session(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	w.record.ExpireSession(a.link, s.ID())
	lost(w, term)
	next := b.lead()
	b.alone()
	a.again()
	w.until("the loser stands again", func() bool { return len(w.nodes()) >= 2 })
	b.lists("b", "a")
	b.resign()
	grew(w, next, a.lead())
	a.alone()
}

func leaderRemoved(w *world) {
	a, b := w.candidate("a").stand(), w.candidate("b")
	term := a.lead()
	b.stand()
	w.watched(term)
	w.server.Delete(w.path + "/" + term.NodeName())
	lost(w, term)
	b.lead()
	b.alone()
}

// watched waits until the node of a leader is watched, by itself and by the next one.
func (w *world) watched(term *locks.Lease) {
	w.t.Helper()
	w.until("its node is watched", func() bool { return w.server.Watches(w.path+"/"+term.NodeName()) == 2 })
}

func candidateRemoved(w *world) {
	a, b := w.candidate("a").stand(), w.candidate("b")
	term := a.lead()
	b.stand()
	w.watched(term)
	for _, name := range w.nodes() {
		if name != term.NodeName() {
			w.server.Delete(w.path + "/" + name)
		}
	}
	w.until("it stands again", func() bool { return len(w.nodes()) >= 2 })
	if term.Err() != nil || b.leads() {
		w.t.Errorf("the term ended with %v, the other leads: %t", term.Err(), b.leads())
	}
	a.resign()
	b.lead()
	b.alone()
}
