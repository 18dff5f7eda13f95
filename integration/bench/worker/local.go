package worker

import (
	"context"
	"errors"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/recipes/locks"
)

// LocalHandover tells whether this library can hand a lock on inside a process.
const LocalHandover = false

// localHandover is the option for it.
func localHandover(int) []locks.Option { return nil }

// dialCuratorLocal is this library with mutexes that are handed on inside the process, a number of times, before others have
// their turn.
func dialCuratorLocal(ctx context.Context, j job.Job) (client, error) {
	if !LocalHandover {
		return nil, errors.New("this library has no local hand-over")
	}
	c, err := connect(ctx, j)
	return curator{Client: c, mutex: localHandover(j.Handover)}, err
}
