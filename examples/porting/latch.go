package porting

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// Latch is Latch.java.
type Latch struct{ latch *leader.LeaderLatch }

// NewLatch is new Latch. Begin and end run one at a time, on a goroutine of the client.
func NewLatch(client *framework.Client, id string, begin, end func()) Latch {
	latch := leader.NewLeaderLatch(client, "/leaders/reports", leader.WithID(id))
	latch.OnChange(func(term *locks.Lease) {
		if term != nil {
			begin()
		} else {
			end()
		}
	})
	return Latch{latch}
}

// Start is Latch.start. It returns when the latch has its node.
func (l Latch) Start(ctx context.Context) error { return l.latch.Start(ctx) }

// Leads is Latch.leads.
func (l Latch) Leads() bool { return l.latch.HasLeadership() }

// WhenLeading is Latch.whenLeading. The context of work ends when the term does; a Runnable never hears of it.
func (l Latch) WhenLeading(ctx context.Context, work Work) (bool, error) {
	term, err := l.latch.Await(ctx)
	if errors.Is(err, leader.ErrNotStarted) {
		return false, nil // the latch is closed
	}
	if err != nil {
		return false, err
	}
	return true, work(term.Context(ctx))
}

// Close is Latch.close.
func (l Latch) Close() error { return l.latch.Close() }
