package locks

import (
	"fmt"

	"github.com/gocurator/curator/recipes/internal/steps"
)

// Reports of steps: see package steps. They do nothing without an observer.

// stepLocked reports a step of the local queue.
func (q *retainedQueue) stepLocked(kind steps.Kind) {
	if q.all.observer != nil {
		q.all.observer.Step(steps.Step{Kind: kind, Dir: q.key.id.path, Local: q.key.String()})
	}
}

func (k retainedKey) String() string { return fmt.Sprint(k.retention, k.node) }
