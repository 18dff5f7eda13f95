package queue

import (
	"time"

	"github.com/gocurator/curator/recipes/internal/steps"
)

// A directory whose counter has ended is left alone for refusalTime. Servers remove empty containers once a minute.
const refusalTime = time.Minute

// refuse remembers that the directory's counter has ended. More nodes would keep the directory, and its counter.
func (q *Queue) refuse() error {
	q.Registry.mu.Lock()
	defer q.Registry.mu.Unlock()
	if _, there := q.Registry.refused[q.Config.Dir]; !there {
		q.Registry.stepOf(steps.Refused, q.Config.Dir, 0)
	}
	q.Registry.refused[q.Config.Dir] = time.Now().Add(refusalTime)
	time.AfterFunc(refusalTime, func() { _ = q.refused() })
	return ErrCounterExhausted
}

// refused is ErrCounterExhausted while the directory is left alone.
func (q *Queue) refused() error {
	q.Registry.mu.Lock()
	defer q.Registry.mu.Unlock()
	until, there := q.Registry.refused[q.Config.Dir]
	switch {
	case !there:
		return nil
	case time.Now().Before(until):
		return ErrCounterExhausted
	}
	delete(q.Registry.refused, q.Config.Dir)
	q.Registry.stepOf(steps.Accepted, q.Config.Dir, 0)
	return nil
}
