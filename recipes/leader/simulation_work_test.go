package leader_test

import (
	"context"
	"maps"
	"time"

	"github.com/gocurator/curator/recipes/internal/simtest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// runSelector leads some times, by Run.
func (a actor) runSelector(who string, p *simtest.Peer) {
	selector := leader.NewLeaderSelector(p.Client, path, leader.WithID(who))
	a.joined(who, selector.HasLeadership)
	ctx, cancel := context.WithCancel(a.T.Context())
	defer cancel()
	for left := 3 + a.Pick(4); left > 0; {
		err := selector.Run(ctx, func(ctx context.Context) error {
			a.serve(who, leader.LeaseFromContext(ctx))
			if left--; left <= 0 {
				cancel()
			}
			return nil
		})
		a.Note(who, "%v", err) // without a connection to begin with it ends by the policy
	}
}

// runLatch leads some times, by latches that stand for several terms.
func (a actor) runLatch(who string, p *simtest.Peer) {
	for left := 3 + a.Pick(4); left > 0; {
		l := leader.NewLeaderLatch(p.Client, path, leader.WithID(who))
		a.joined(who, l.HasLeadership)
		changes := make(chan *locks.Lease, 1000)
		l.OnChange(func(term *locks.Lease) { changes <- term })
		terms := map[*locks.Lease]bool{}
		err := l.Start(a.T.Context())
		for stay := true; err == nil && stay && left > 0; left-- {
			var term *locks.Lease
			if term, err = l.Await(a.T.Context()); err == nil {
				terms[term] = true
				a.serve(who, term)
				if stay = a.Pick(2) == 0; stay && term.Err() == nil {
					a.Note(who, "lets go: %v", term.Release()) // it stands for election again
				}
			}
		}
		a.Note(who, "%v, close: %v", err, l.Close())
		a.hears(who, terms, changes)
	}
}

// hears wants changes to alternate, to have every term that was led, and to end with an end.
func (a actor) hears(who string, terms map[*locks.Lease]bool, changes <-chan *locks.Lease) {
	for leads := false; leads || len(terms) > 0; {
		var term *locks.Lease
		select {
		case term = <-changes:
		case <-time.After(time.Hour):
			a.T.Errorf("seed %d: %s does not hear of %d terms", a.Seed, who, len(terms))
			return
		}
		if leads == (term != nil) {
			a.T.Errorf("seed %d: %s leads: %t, and hears of %v", a.Seed, who, leads, term)
		}
		leads = term != nil
		delete(terms, term)
	}
}

// serve leads for a while, or until the term is lost.
func (a actor) serve(who string, term *locks.Lease) {
	o := office{who: who, token: term.FencingToken(), begin: time.Now()}
	if term.Err() != nil { // before the leader came to begin
		return
	}
	a.Note(who, "leads with %d", o.token)
	a.alone(who)
	long := 3 * time.Second
	switch {
	case a.Limited():
		long = 3 * simtest.SessionTimeout // enough to be lost, and not to be heard of
	case a.Pick(4) == 0:
		long = 2 * simtest.SessionTimeout // enough to be lost
	}
	select {
	case <-term.Done():
	case <-time.After(a.Some(long)):
	}
	o.end, o.lost = time.Now(), term.Err()
	if until := term.ValidUntil(); o.lost != nil && until.Before(o.end) {
		a.T.Errorf("seed %d: %s heard at %v of the end at %v", a.Seed, who, o.end, until)
	}
	a.Note(who, "led with %d: %v", o.token, o.lost)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.terms = append(a.terms, o)
}

// alone fails the simulation if another participant believes to lead.
func (a actor) alone(who string) {
	a.mu.Lock()
	others := maps.Clone(a.leads)
	a.mu.Unlock()
	for other, leads := range others {
		if other != who && leads() {
			a.T.Errorf("seed %d: %s leads, and %s believes to lead", a.Seed, who, other)
		}
	}
}
