package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

// A report prints what happens and remembers the holds, to check them at the end.
type report struct {
	out      io.Writer
	settings settings
	begun    time.Time

	mu        sync.Mutex
	print     func(event)
	holds     []*hold
	byNode    map[string]*hold
	handovers []time.Duration
}

// A hold lasts from the return of Acquire to the call of Release, or to the end of the lease if that is earlier.
type hold struct {
	worker      int
	node        string
	token       int64
	from, until time.Time
	lost        bool
}

func newReport(out io.Writer, s settings) *report {
	return &report{out: out, settings: s, begun: time.Now(), byNode: map[string]*hold{}}
}

func (r *report) begin() {
	s := r.settings
	where := s.connect
	if where == "" {
		where = "a server in memory"
	}
	if !s.json {
		say(r.out, "%d workers contend for %s on %s. Each holds it for %v. A session ends after %v of silence.\n",
			s.workers, s.path, where, s.hold, s.session)
	}
	r.print = printer(r.out, s, r.begun)
}

func (r *report) waiting(worker int, w locks.Waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(event{
		at: time.Now(), Worker: worker, Event: waiting, Node: w.Node, Ahead: w.Predecessor,
		text: fmt.Sprintf("waits for %s, %d ahead", short(w.Predecessor), w.Ahead),
	})
}

func (r *report) acquired(worker int, lease *locks.Lease, ahead string) {
	now := time.Now()
	h := &hold{worker: worker, node: lease.NodeName(), token: lease.FencingToken(), from: now}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = append(r.holds, h)
	r.byNode[h.node] = h
	text := fmt.Sprintf("HOLDS, token %d", h.token)
	if before := r.byNode[ahead]; before != nil && !before.until.IsZero() {
		took := now.Sub(before.until)
		if before.lost {
			text += fmt.Sprintf("; let in %v after the loss", round(took))
		} else {
			text += fmt.Sprintf("; handed over in %v", round(took))
			r.handovers = append(r.handovers, took)
		}
	}
	r.print(event{at: now, Worker: worker, Event: acquired, Node: h.node, Ahead: ahead, Token: h.token, text: text})
}

func (r *report) released(worker int, lease *locks.Lease, now time.Time) {
	r.end(worker, lease, now, released, func(held time.Duration) string {
		return fmt.Sprintf("releases it after %v", round(held))
	})
}

// lost is called after the end of the lease, but knows when that was.
func (r *report) lost(worker int, lease *locks.Lease, now time.Time, err error) {
	if end := lease.ValidUntil(); end.Before(now) {
		now = end
	}
	reason := err
	if unwrapped := errors.Unwrap(err); unwrapped != nil { // the rest of a LostError is known here
		reason = unwrapped
	}
	r.end(worker, lease, now, lost, func(held time.Duration) string {
		return fmt.Sprintf("LOST after %v: %s", round(held), strings.TrimPrefix(reason.Error(), "framework: "))
	})
}

func (r *report) end(worker int, lease *locks.Lease, now time.Time, what string, text func(held time.Duration) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.byNode[lease.NodeName()]
	h.until, h.lost = now, what == lost
	r.print(event{at: now, Worker: worker, Event: what, Node: h.node, Token: h.token, text: text(now.Sub(h.from))})
}

// note is for people only.
func (r *report) note(worker int, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(event{at: time.Now(), Worker: worker, Event: note, text: text})
}

// finish checks the holds of this process and tells the result.
func (r *report) finish(interrupted bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := check(r.holds); err != nil {
		return err
	}
	if r.settings.json {
		return nil
	}
	if interrupted {
		say(r.out, "\ninterrupted\n")
	}
	say(r.out, "\n%d holds in %v. No two overlapped. First come, first served.\n",
		len(r.holds), round(time.Since(r.begun)))
	if n := len(r.handovers); n > 0 {
		slices.Sort(r.handovers)
		say(r.out, "A hand-over took %v (median), at most %v.\n", round(r.handovers[n/2]), round(r.handovers[n-1]))
	}
	return nil
}

// check says which holds overlapped, and which came out of turn: in the order of the holds, the numbers of their nodes must
// rise. Tokens tell the same and more: they go on rising when the directory was removed in the meantime and counts anew.
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
