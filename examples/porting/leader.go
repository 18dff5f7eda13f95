package porting

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
)

// Leader is Leader.java.
type Leader struct{ selector *leader.LeaderSelector }

// NewLeader is new Leader.
func NewLeader(client *framework.Client, id string) Leader {
	return Leader{leader.NewLeaderSelector(client, "/leaders/billing", leader.WithID(id))}
}

// Serve is Leader.start; the end of ctx is Leader.stop.
func (l Leader) Serve(ctx context.Context, work Work) error {
	return l.selector.Run(ctx, work)
}

// Once is a Leader that does not requeue.
func (l Leader) Once(ctx context.Context, work Work) error {
	return l.selector.RunOnce(ctx, work)
}

// Who is Leader.who.
func (l Leader) Who(ctx context.Context) (string, error) {
	p, err := l.selector.Leader(ctx)
	return p.ID, err
}

// Waiting is Leader.waiting.
func (l Leader) Waiting(ctx context.Context) (int, error) {
	all, err := l.selector.Participants(ctx)
	return max(len(all)-1, 0), err
}
