// Package play has what the processes of the playground do: workers that contend for a lock, and the server between
// them. It knows nothing of browsers, so that it can be tested without one.
package play

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Settings are those of one worker.
type Settings struct {
	Number  int     `json:"worker"`  // the worker's, from 1
	Lock    string  `json:"lock"`    // one of Locks
	Write   bool    `json:"write"`   // with a read/write lock: take the write lock
	Start   float64 `json:"start"`   // milliseconds from the beginning to the worker's first acquire
	Hold    float64 `json:"hold"`    // milliseconds for which it works with the lock
	Pause   float64 `json:"pause"`   // milliseconds between a release and the next acquire
	Session float64 `json:"session"` // timeout of its session, in milliseconds
}

// Locks are the kinds of locks that workers can contend for.
var Locks = []string{"mutex", "readwrite", "leader", "retained"}

const (
	most    = 8 // workers
	longest = 10 * time.Minute
)

// Check says everything that is wrong with the settings, which come from a link.
func (s Settings) Check() error {
	var problems []error
	if s.Number < 1 || s.Number > most {
		problems = append(problems, fmt.Errorf("worker %d: want a number from 1 to %d", s.Number, most))
	}
	if !slices.Contains(Locks, s.Lock) {
		problems = append(problems, fmt.Errorf("lock %q: want one of %q", s.Lock, Locks))
	}
	for _, d := range []struct {
		name  string
		value float64
		least float64
	}{{"start", s.Start, 0}, {"hold", s.Hold, 0}, {"pause", s.Pause, 0}, {"session", s.Session, 500}} {
		if !(d.value >= d.least && d.value <= float64(longest.Milliseconds())) { // NaN is refused, too
			problems = append(problems, fmt.Errorf("%s %v: want %v to %v milliseconds", d.name, d.value, d.least, longest.Milliseconds()))
		}
	}
	return errors.Join(problems...)
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
