package nodestest

import (
	"maps"
	"slices"
	"time"
)

// A Claim is the time in which a process keeps a node: from the return of Start to the call of Close.
type Claim struct {
	Process, Path string
	From, Until   time.Time
}

// A Departure is the time in which a process sends nothing.
type Departure struct {
	Process string
	At      time.Time
	Until   time.Time // zero if it never comes back
}

// A Closing is a call of Close that has returned nil, in a session that was connected before and after it.
type Closing struct {
	Process, Path    string
	Called, Returned time.Time
}

// CheckDepartures wants the nodes of a process that has gone to be gone after a time of silence: a session timeout, two
// ticks, and what was under way. It begins again when servers give each session its full timeout again.
func (h *History) CheckDepartures(all []Departure, silence time.Duration, touched []time.Time) {
	touched = slices.SortedFunc(slices.Values(touched), time.Time.Compare)
	for _, d := range all {
		limit := d.At.Add(silence)
		for _, at := range touched {
			if at.After(d.At) && !at.After(limit) {
				limit = at.Add(silence)
			}
		}
		if !d.Until.IsZero() && d.Until.Before(limit) {
			continue
		}
		for life := range h.lives {
			if life.Process == d.Process && life.Created.Before(limit) && (life.Ended.IsZero() || life.Ended.After(limit)) {
				h.problem("law 2: %s has gone at %s, and its node %s of session %#x is there at %s",
					d.Process, clock(d.At), life.Path, life.Owner, clock(limit))
			}
		}
	}
}

// CheckClosings wants no node to outlast the Close that has found it.
func (h *History) CheckClosings(all []Closing) {
	for _, c := range all {
		for _, life := range h.of[c.Path] {
			if life.Process == c.Process && life.Created.Before(c.Called) && life.covers(c.Returned) {
				h.problem("law 2: %s has closed %s at %s, and its node of session %#x is there at %s",
					c.Process, c.Path, clock(c.Called), life.Owner, clock(c.Returned))
			}
		}
	}
}

// CheckReplacements wants a process to delete no node of its own that it keeps, unless the same transaction creates the
// next.
func (h *History) CheckReplacements(claims []Claim) {
	for _, c := range claims {
		for _, life := range h.of[c.Path] {
			kept := life.Ended.After(c.From) && (c.Until.IsZero() || life.Ended.Before(c.Until))
			if kept && life.Process == c.Process && life.By != 0 && h.process(life.By) == c.Process && life.Heir == nil {
				h.problem("law 6: at %s, %s deleted its own node %s, and created none in the same transaction",
					clock(life.Ended), c.Process, c.Path)
			}
		}
	}
}

// CheckGaps wants a node that is kept to be there but for times of at most so long, in which its process runs and no
// other has it. It is for runs without faults.
func (h *History) CheckGaps(claims []Claim, departures []Departure, longest time.Duration) {
	for _, c := range claims {
		since := c.From
		gap := func(until time.Time) {
			for _, d := range departures {
				if d.Process == c.Process && d.At.Before(until) && d.Until.After(since) {
					since = d.Until
				}
			}
			if until.Sub(since) > longest {
				h.problem("law 1: %s keeps %s, which was not there from %s to %s", c.Process, c.Path, clock(since), clock(until))
			}
		}
		for _, life := range h.of[c.Path] {
			if life.Created.After(c.Until) {
				break
			}
			if life.Created.After(since) {
				gap(life.Created)
			}
			if life.Ended.IsZero() {
				since = c.Until
			} else if life.Ended.After(since) {
				since = life.Ended
			}
		}
		gap(c.Until)
	}
}

// CheckFormer wants no node that is kept to go with its session while its process runs: a session of which the client
// believes that it is over is followed by another, which replaces the node. Those that an administrator has ended are
// left out. It is for runs without faults; a process that comes back has so long to connect.
func (h *History) CheckFormer(claims []Claim, departures []Departure, ended map[int64]bool, connect time.Duration) {
	for _, c := range claims {
		for _, life := range h.of[c.Path] {
			if life.Process != c.Process || !life.Expired || ended[life.Owner] {
				continue
			}
			if life.Ended.Before(c.From) || life.Ended.After(c.Until) {
				continue
			}
			away := slices.ContainsFunc(departures, func(d Departure) bool {
				back := !d.Until.IsZero() && d.Until.Add(connect).Before(life.Ended)
				return d.Process == c.Process && d.At.Before(life.Ended) && !back
			})
			if !away {
				h.problem("law 6: %s runs, and its node %s went at %s with session %#x",
					c.Process, c.Path, clock(life.Ended), life.Owner)
			}
		}
	}
}

// lives yields all nodes, by path.
func (h *History) lives(yield func(*Life) bool) {
	for _, path := range slices.Sorted(maps.Keys(h.of)) {
		for _, life := range h.of[path] {
			if !yield(life) {
				return
			}
		}
	}
}

// Problems returns what was against the laws, in the order in which it was found.
func (h *History) Problems() []string { return h.problems }
