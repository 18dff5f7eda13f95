package queue

import "time"

// refusalTime is how long a directory whose counter has ended is left alone. Servers look for empty containers once a
// minute.
const refusalTime = time.Minute

// refuse remembers that the counter of the queue's directory has ended. Every further node would be the end of a
// number, and would keep the directory, so that it never goes and never gets a new counter.
func (q *Queue) refuse() error {
	q.Registry.mu.Lock()
	defer q.Registry.mu.Unlock()
	q.Registry.refused[q.Config.Dir] = time.Now().Add(refusalTime)
	time.AfterFunc(refusalTime, func() { _ = q.refused() })
	return ErrNoMoreNumbers
}

// refused is ErrNoMoreNumbers as long as the directory is left alone. It forgets what is over.
func (q *Queue) refused() error {
	q.Registry.mu.Lock()
	defer q.Registry.mu.Unlock()
	until, there := q.Registry.refused[q.Config.Dir]
	switch {
	case !there:
		return nil
	case time.Now().Before(until):
		return ErrNoMoreNumbers
	}
	delete(q.Registry.refused, q.Config.Dir)
	return nil
}
