//go:build linux

package godriver

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// An election is a contender that holds while it leads.
type election struct {
	elector
	makeLatch func() *leader.LeaderLatch // nil for a selector
	latch     *leader.LeaderLatch        // the one that stands for election; nil if none does
	term      *locks.Lease
}

// An elector is what selectors and latches have in common.
type elector interface {
	HasLeadership() bool
	Leader(ctx context.Context) (leader.Participant, error)
	Participants(ctx context.Context) ([]leader.Participant, error)
}

func newElection(client *framework.Client, order Order) *election {
	id := order.Who
	if order.Data != nil {
		id = *order.Data
	}
	if order.Recipe == "selector" {
		return &election{elector: leader.NewLeaderSelector(client, order.Path, leader.WithID(id))}
	}
	e := &election{makeLatch: func() *leader.LeaderLatch {
		return leader.NewLeaderLatch(client, order.Path, leader.WithID(id))
	}}
	e.elector = e.makeLatch() // a latch may be asked who leads before it stands for election
	return e
}

func (e *election) acquire(ctx context.Context, _ Order) ([]string, int64, error) {
	term, err := e.campaign(ctx)
	if err != nil {
		e.leave()
		return nil, 0, err
	}
	e.term = term
	return names(term), monotonic(term.ValidUntil()), nil
}

func (e *election) campaign(ctx context.Context) (*locks.Lease, error) {
	if selector, ok := e.elector.(*leader.LeaderSelector); ok {
		return selector.Campaign(ctx)
	}
	if e.latch == nil {
		latch := e.makeLatch()
		if err := latch.Start(ctx); err != nil {
			return nil, err
		}
		e.latch, e.elector = latch, latch
	}
	return e.latch.Await(ctx)
}

// release resigns. A latch whose term was lost goes on standing for election, as the program would have it.
func (e *election) release(_ Order, leaving func(valid int64)) error {
	term := e.term
	if term == nil {
		return errors.New("it does not lead")
	}
	e.term = nil
	leaving(monotonic(term.ValidUntil()))
	switch {
	case term.Err() != nil && e.latch != nil:
		return nil
	case e.latch != nil:
		latch := e.latch
		e.latch = nil
		return latch.Close()
	}
	if err := term.Release(); !errors.Is(err, locks.ErrLeaseLost) {
		return err
	}
	return nil
}

// leads is what the program finds when it looks.
func (e *election) leads() bool { return e.term != nil && e.term.Err() == nil && e.HasLeadership() }

// leave ends the standing for election.
func (e *election) leave() {
	if e.latch != nil {
		_ = e.latch.Close()
		e.latch = nil
	}
}

func (e *election) report(ctx context.Context, order Order, a *Answer) error {
	if order.Op == "explain" {
		return explain(e.term, a)
	}
	a.Acquired = e.HasLeadership()
	a.Ended = Now()
	all, err := e.Participants(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		a.IDs = append(a.IDs, p.ID)
	}
	if len(all) > 0 {
		leads, err := e.Leader(ctx)
		a.Owned = err == nil && leads.ID == all[0].ID
		return err
	}
	return nil
}
