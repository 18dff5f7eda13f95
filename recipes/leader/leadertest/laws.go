package leadertest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// A Kind is one of the elections.
type Kind string

// The two elections.
const (
	Selector Kind = "LeaderSelector"
	Latch    Kind = "LeaderLatch"
)

// Kinds are both.
func Kinds() []Kind { return []Kind{Selector, Latch} }

// stranger is a child that blocks an election in Java.
const stranger = "0"

// Run runs all laws on an election.
func Run(t *testing.T, backend lockstest.Backend, kind Kind) {
	t.Helper()
	_, inRealTime := backend.MissingCapabilities()[lockstest.Bubble]
	for _, law := range []struct {
		name string
		run  func(w *world)
	}{
		{"G1 one leader at a time, over many terms", manyTerms},
		{"G2 a leader that hears nothing knows before the next leads", mute},
		{"G2 a leader that is cut off knows before the next leads", cut},
		{"G3 they lead in the order in which they came, and all list it", order},
		{"G5 a candidate that gives up leaves no node", givesUp},
		{"G7 a leader whose session ends leads no more, and stands again", sessionEnds},
		{"G8 a leader whose node is removed leads no more", leaderRemoved},
		{"G8 a candidate whose node is removed stands again", candidateRemoved},
		{"G10 a short outage costs no place", shortOutage},
		{"G11 strangers do not block", strangers},
		{"G12 the end of the client ends the term and the wait", clientEnds},
		{"Changes alternate, and none is lost", changesAlternate},
		{"An observer sees the newest leader", observed},
	} {
		t.Run(law.name, func(t *testing.T) {
			backend.Run(t, func(t *testing.T, server lockstest.Server) { law.run(newWorld(t, server, kind, !inRealTime)) })
		})
	}
}

func manyTerms(w *world) {
	const rounds = 5
	all := []*candidate{w.candidate("a"), w.candidate("b"), w.candidate("c")}
	var (
		mu      sync.Mutex
		leading string
		done    sync.WaitGroup
	)
	enter := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		if leading != "" {
			w.t.Errorf("%s leads beside %s", id, leading)
		}
		leading = id
	}
	for _, c := range all {
		done.Go(func() {
			for range rounds {
				c.stand().lead()
				enter(c.id)
				time.Sleep(time.Millisecond)
				mu.Lock()
				leading = ""
				mu.Unlock()
				c.resign()
			}
		})
	}
	done.Wait()
}

func order(w *world) {
	var all []*candidate
	var want []string
	for _, id := range []string{"a", "b", "c"} {
		all, want = append(all, w.candidate(id).stand()), append(want, id)
		if nodes := w.nodes(); len(nodes) != len(all) || all[len(all)-1].selectorOrLatch().ID() != id {
			w.t.Errorf("%s: got the nodes %v, want %d", id, nodes, len(all))
		}
	}
	var before *locks.Lease
	for i, c := range all {
		term := c.lead()
		c.alone()
		if before != nil {
			grew(w, before, term)
		}
		before = term
		for _, observer := range all {
			if first := observer.lists(want[i:]...); first.Token != term.FencingToken() || first.Path != w.path+"/"+term.NodeName() {
				w.t.Errorf("got the leader %+v, want one with the token %d at %s", first, term.FencingToken(), term.NodeName())
			}
		}
		c.resign()
		if !errors.Is(term.Err(), locks.ErrReleased) || c.leads() {
			w.t.Errorf("%s has resigned: %v, leads: %t", c.id, term.Err(), c.leads())
		}
	}
	_, err := all[0].selectorOrLatch().Leader(w.t.Context())
	if !errors.Is(err, leader.ErrNoLeader) {
		w.t.Errorf("got %v, want no leader", err)
	}
}

func givesUp(w *world) {
	a, b, c := w.candidate("a").stand(), w.candidate("b"), w.candidate("c")
	term := a.lead()
	b.stand()
	c.stand()
	b.resign()
	w.untilGone("its node is gone", func() bool { return len(w.nodes()) == 2 })
	if term.Err() != nil || c.leads() {
		w.t.Errorf("the term ended with %v, the next leads: %t", term.Err(), c.leads())
	}
	a.resign()
	c.lead()
}

func shortOutage(w *world) {
	a, b := w.candidate("a").stand(), w.candidate("b")
	term := a.lead()
	b.stand()
	before, nodes := b.session(), w.nodes()
	b.link.Reset()
	b.session() // it is connected again
	now := w.nodes()
	// the machine may have been too busy to keep the sessions
	if before == b.session() && term.Err() == nil && !slices.Equal(nodes, now) {
		w.t.Errorf("got nodes %v after the outage, %v before", now, nodes)
	}
	a.resign()
	b.lead()
}

func strangers(w *world) {
	a := w.candidate("a").stand()
	a.lead()
	w.server.Create(w.path+"/"+stranger, nil)
	a.lists("a")
	a.resign()
	a.stand().lead()
	w.server.Delete(w.path + "/" + stranger)
}

func clientEnds(w *world) {
	a, b, c := w.candidate("a").stand(), w.candidate("b"), w.candidate("c")
	term := a.lead()
	b.stand()
	c.stand()
	b.close()
	if got := b.outcome(); !errors.Is(got.err, framework.ErrClosed) {
		w.t.Errorf("the wait ended with %v, want the end of the client", got.err)
	}
	a.close()
	lost(w, term)
	c.lead()
	c.alone()
}
