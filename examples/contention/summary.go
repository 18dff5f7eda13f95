package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A tally is what one worker had of the lock.
type tally struct {
	Worker  int     `json:"worker"`
	Came    int     `json:"came"` // how often it wanted the lock
	Held    int     `json:"held"`
	Lost    int     `json:"lost"`
	Waited  float64 `json:"waited_ms"` // in all; so are the next ones
	Longest float64 `json:"longest_wait_ms"`
	HeldFor float64 `json:"held_ms"`

	waited, longest, heldFor time.Duration
}

// A summary is the last line of -json.
type summary struct {
	Time        string   `json:"time"`
	PID         int      `json:"pid"`
	Event       string   `json:"event"` // "summary"
	Path        string   `json:"path"`
	Seconds     float64  `json:"seconds"`
	Holds       int      `json:"holds"`
	Lost        int      `json:"lost"`
	Interrupted bool     `json:"interrupted"`
	Problems    []string `json:"problems"` // overlaps, and holds out of turn
	HandOver    *spread  `json:"hand_over_ms,omitempty"`
	Workers     []tally  `json:"workers"`
}

type spread struct {
	Median  float64 `json:"median"`
	Longest float64 `json:"longest"`
}

// table has a line for each worker, for people.
func table(tallies []tally) string {
	var text strings.Builder
	text.WriteString("worker    came    held    lost   waited (mean)   longest wait   held (in all)\n")
	for _, t := range tallies {
		mean := time.Duration(0)
		if t.Held > 0 {
			mean = t.waited / time.Duration(t.Held)
		}
		fmt.Fprintf(&text, "%6d  %6d  %6d  %6d  %14v  %13v  %14v\n",
			t.Worker, t.Came, t.Held, t.Lost, round(mean), round(t.longest), round(t.heldFor))
	}
	return text.String()
}

// finish checks the holds of this process and prints the result. It fails if the lock did not keep what it promises.
func (r *report) finish(interrupted bool) error {
	if r.screen != nil {
		r.screen.close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
	slices.Sort(r.handovers)
	wrong := check(r.holds)
	if r.settings.json {
		r.printSummary(interrupted, wrong)
	} else {
		r.printResult(interrupted, wrong)
	}
	if file := r.settings.picture; file != "" {
		return errors.Join(wrong, r.board.writePicture(file))
	}
	return wrong
}

func (r *report) printResult(interrupted bool, wrong error) {
	if interrupted {
		say(r.out, "\ninterrupted\n")
	}
	say(r.out, "\n%s\n%d holds in %v. ", table(r.tallies), len(r.holds), round(time.Since(r.begun)))
	switch {
	case wrong != nil:
		say(r.out, "The lock did NOT keep what it promises.\n")
	case len(r.holds) == 0:
		say(r.out, "That proves nothing.\n")
	default:
		say(r.out, "No two overlapped. First come, first served.\n")
	}
	if n := len(r.handovers); n > 0 {
		say(r.out, "A hand-over took %v (median), at most %v.\n", round(r.handovers[n/2]), round(r.handovers[n-1]))
	}
}

func (r *report) printSummary(interrupted bool, wrong error) {
	s := summary{
		Time: time.Now().UTC().Format(timeFormat), PID: os.Getpid(), Event: "summary", Path: r.settings.path,
		Seconds: time.Since(r.begun).Seconds(), Holds: len(r.holds), Interrupted: interrupted, Problems: []string{}, Workers: r.tallies,
	}
	if wrong != nil {
		s.Problems = strings.Split(wrong.Error(), "\n")
	}
	if n := len(r.handovers); n > 0 {
		s.HandOver = &spread{milliseconds(r.handovers[n/2]), milliseconds(r.handovers[n-1])}
	}
	for i := range s.Workers {
		t := &s.Workers[i]
		t.Waited, t.Longest, t.HeldFor = milliseconds(t.waited), milliseconds(t.longest), milliseconds(t.heldFor)
		s.Lost += t.Lost
	}
	_ = json.NewEncoder(r.out).Encode(s) // as in say
}

// check says which holds overlapped, and which came out of turn: in the order of the holds, the numbers of their nodes
// must rise. Tokens show the same and more: they go on rising when the directory was removed in between and its counter
// restarted.
func check(holds []*hold) error {
	slices.SortFunc(holds, func(a, b *hold) int { return a.from.Compare(b.from) })
	var problems []error
	for i := 1; i < len(holds); i++ {
		a, b := holds[i-1], holds[i]
		if b.from.Before(a.until) {
			problems = append(problems, fmt.Errorf("OVERLAP of %v: worker %d on %s, worker %d on %s",
				a.until.Sub(b.from), a.worker, a.node, b.worker, b.node))
		}
		if b.token <= a.token {
			problems = append(problems, fmt.Errorf("OUT OF TURN: worker %d on %s before worker %d on %s",
				a.worker, a.node, b.worker, b.node))
		}
	}
	return errors.Join(problems...)
}
