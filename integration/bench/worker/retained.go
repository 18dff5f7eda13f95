package worker

import (
	"context"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/recipes/locks"
)

// dialCuratorRetained is this library with mutexes whose nodes stay with the process while no other wants them.
func dialCuratorRetained(ctx context.Context, j job.Job) (client, error) {
	c, err := connect(ctx, j)
	return curator{Client: c, retain: []locks.RetainOption{locks.RetainIdle(j.Idle)}}, err
}
