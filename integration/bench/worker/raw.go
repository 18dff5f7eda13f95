package worker

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/bench/job"
)

// raw is the floor under every lock that leaves a node in a queue: the creation of the node and its deletion, and
// nothing else, through the same client as this library's locks.
type raw struct{ *framework.Client }

func dialRaw(ctx context.Context, j job.Job) (client, error) {
	c, err := connect(ctx, j)
	return raw{c}, err
}

func (r raw) close() { _ = r.Close() } // the session is over either way, at the latest when it expires

func (r raw) lock(ctx context.Context, _, path string, _ int) (pair, error) {
	// A parent that stays: the floor has no parents to make again.
	_, _, err := r.Create(ctx, path, nil, framework.CreatingParentsIfNeeded())
	return one(func(ctx context.Context) (func(context.Context) error, error) {
		node, _, err := r.Create(ctx, path+"/lock-", nil, framework.WithMode(framework.EphemeralSequential))
		return func(ctx context.Context) error { return r.Delete(ctx, node, -1) }, err
	}), err
}
