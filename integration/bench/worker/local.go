package worker

import (
	"context"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/recipes/locks"
)

// dialCuratorLocal is this library with mutexes that are handed on inside the process, a number of times, before others have
// their turn.
func dialCuratorLocal(ctx context.Context, j job.Job) (client, error) {
	c, err := connect(ctx, j)
	return curator{Client: c, mutex: []locks.Option{locks.WithLocalHandover(j.Handover)}}, err
}
