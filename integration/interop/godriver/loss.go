//go:build linux

package godriver

import (
	"errors"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/locks"
)

// A Loss is the end of a lease, as its client explains it.
type Loss struct {
	Reason   string   `json:"reason"`
	Kind     string   `json:"kind"`
	Sentence string   `json:"sentence"`
	Evidence []string `json:"evidence"`
	// Pauses are the stretches of time in which the process did not run, by a goroutine of its own.
	Pauses []Span `json:"pauses,omitempty"`
}

// A Span is a stretch of time, by the clock of [Now].
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

func newLoss(reason string, why session.Explanation, pauses []Span) *Loss {
	return &Loss{reason, why.Kind.String(), why.Sentence, why.Evidence, pauses}
}

// explain waits for the end of the newest lease.
func (u *lockUser) explain(a *Answer) error {
	if len(u.leases) == 0 {
		return errors.New("nothing is held")
	}
	return explain(u.leases[len(u.leases)-1], a)
}

func explain(lease *locks.Lease, a *Answer) error {
	pauses := watchPauses(lease.Done())
	<-lease.Done()
	a.Ended = Now()
	var lost *locks.LostError
	if err := lease.Err(); !errors.As(err, &lost) {
		return err
	}
	why := lost.Explain()
	a.Loss = newLoss(lost.Reason.Error(), why, <-pauses)
	return nil
}

// explain waits until the node has gone, and is there again: until then it may not be known what came of its session.
func (r *registration) explain(a *Answer) {
	changes := make(chan bool, 100)
	defer r.node.OnChange(func(there bool) {
		select {
		case changes <- there:
		default: // there are enough
		}
	})()
	back := make(chan struct{})
	pauses := watchPauses(back)
	gone := false
	for there := range changes {
		if gone && there {
			break
		}
		gone = gone || !there
	}
	a.Ended = Now()
	close(back)
	a.Loss = newLoss("", r.node.LastLoss(), <-pauses)
}

// watchPauses finds out when the process does not run, until something ends and for as long as a pause may have hidden
// that end.
func watchPauses(end <-chan struct{}) <-chan []Span {
	const look, long = 5 * time.Millisecond, 20 * time.Millisecond
	found := make(chan []Span, 1)
	go func() {
		var all []Span
		ended := false
		for last := Now(); !ended; {
			select {
			case <-end:
				ended = true
			default:
			}
			time.Sleep(look)
			now := Now()
			if now-last > int64(long+look) {
				all = append(all, Span{last + int64(look), now})
			}
			last = now
		}
		found <- all
	}()
	return found
}
