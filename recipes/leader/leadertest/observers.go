package leadertest

import (
	"context"
	"slices"
	"sync"

	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// An election is what selectors and latches have in common.
type election interface {
	ID() string
	Leader(ctx context.Context) (leader.Participant, error)
	Participants(ctx context.Context) ([]leader.Participant, error)
}

// selectorOrLatch asks through the election's own kind. One that does not stand may ask as well.
func (c *candidate) selectorOrLatch() election {
	switch {
	case c.w.kind == Selector:
		return c.selector
	case c.latch != nil:
		return c.latch
	default:
		return leader.NewLeaderLatch(c.client, c.w.path)
	}
}

// lists wants the participants in their order, as the candidate sees them. The first one, which it returns, leads.
func (c *candidate) lists(want ...string) (first leader.Participant) {
	c.w.t.Helper()
	all, err := c.selectorOrLatch().Participants(c.w.t.Context())
	if err != nil {
		c.w.t.Error(err)
		return first
	}
	var got []string
	for i, p := range all {
		got = append(got, p.ID)
		if p.IsLeader != (i == 0) {
			c.w.t.Errorf("participant %d leads: %t", i, p.IsLeader)
		}
	}
	if !slices.Equal(got, want) {
		c.w.t.Errorf("%s lists %v, want %v", c.id, got, want)
	}
	first, err = c.selectorOrLatch().Leader(c.w.t.Context())
	if err != nil || first != all[0] {
		c.w.t.Errorf("%s sees the leader %+v, %v, want %+v", c.id, first, err, all[0])
	}
	return first
}

func (c *candidate) session() int64 {
	c.w.t.Helper()
	s, err := c.client.Session(c.w.t.Context())
	if err != nil {
		c.w.t.Fatal(err)
	}
	return s.ID()
}

// changesAlternate has a latch gain and lose the leadership, and hears of each.
func changesAlternate(w *world) {
	if w.kind == Selector {
		w.t.Skip("a selector calls no listener")
	}
	var mu sync.Mutex
	var heard []*locks.Lease
	a := w.candidate("a").stand()
	a.latch.OnChange(func(term *locks.Lease) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, term)
	})
	var want []*locks.Lease
	for range 3 {
		term := a.lead()
		want = append(want, term, nil)
		w.until("its node is watched", func() bool { return w.server.Watches(w.path+"/"+term.NodeName()) == 1 })
		w.server.Delete(w.path + "/" + term.NodeName())
		lost(w, term)
	}
	want = append(want, a.lead(), nil)
	a.resign()
	w.until("all changes are heard", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(heard) >= len(want)
	})
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(heard, want) {
		w.t.Errorf("heard %v, want %v", heard, want)
	}
}

// observed follows the leader by Observe, while it changes.
func observed(w *world) {
	a, b := w.candidate("a").stand(), w.candidate("b")
	a.lead()
	b.stand()
	ctx, cancel := context.WithCancel(w.t.Context())
	seen := make(chan string, 100)
	ended := make(chan struct{})
	observer := w.candidate("observer")
	observe := observer.selector.Observe
	if w.kind == Latch {
		observe = leader.NewLeaderLatch(observer.client, w.path).Observe
	}
	go func() {
		defer close(ended)
		for p, err := range observe(ctx) {
			if err != nil {
				return
			}
			seen <- p.ID
		}
	}()
	want := func(id string) {
		w.until("the observer sees "+id, func() bool {
			select {
			case got := <-seen:
				return got == id
			default:
				return false
			}
		})
	}
	want("a")
	a.resign()
	want("b")
	b.resign()
	want("")
	cancel()
	<-ended
}
