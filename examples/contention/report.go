package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// A report prints what happens and remembers the holds, to check them at the end.
type report struct {
	out      io.Writer
	settings settings
	begun    time.Time

	screen *screen // nil if no terminal shows it live

	mu        sync.Mutex
	print     func(event)
	board     *board // under the screen's mutex, if there is one
	holds     []*hold
	byNode    map[string]*hold
	handovers []time.Duration
	tallies   []tally
	connected []bool // for each worker, until it is cut off
	isCut     []bool
	silent    bool // no server answers anybody
	finished  bool
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
	r := &report{
		out: out, settings: s, byNode: map[string]*hold{},
		tallies: make([]tally, s.workers), connected: make([]bool, s.workers), isCut: make([]bool, s.workers),
	}
	for i := range r.tallies {
		r.tallies[i].Worker = i + 1
	}
	return r
}

// begin starts the clock. What printed is chosen by who reads it.
func (r *report) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.settings
	r.begun = time.Now()
	for i := range r.connected {
		r.connected[i] = true
	}
	r.board = newBoard(fmt.Sprintf("%d workers contend for %s on %s", s.workers, s.path, s.where), r.begun, s.workers)
	r.board.exact = s.picture != ""
	switch {
	case s.terminal:
		r.screen = newScreen(r.out, r.board)
		r.print = r.screen.show
		return
	case s.json:
		r.print = jsonLines(r.out)
	default:
		say(r.out, "%d workers contend for %s on %s. Each holds it for %v. A session ends after %v of silence.\n",
			s.workers, s.path, s.where, s.hold, s.session)
		r.print = plain(r.out, r.begun)
	}
	if s.picture != "" {
		printed := r.print
		r.print = func(e event) {
			printed(e)
			r.board.show(e)
		}
	}
}

// came counts that a worker wants the lock.
func (r *report) came(worker int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tallies[worker-1].Came++
}

func (r *report) waiting(worker int, w locks.Waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(event{
		at: time.Now(), Worker: worker, Event: waiting, Node: w.Node, Ahead: w.Predecessor,
		text: fmt.Sprintf("waits for %s, %d ahead", short(w.Predecessor), w.Ahead),
	})
}

func (r *report) acquired(worker int, lease *locks.Lease, ahead string, waited time.Duration) {
	now := time.Now()
	h := &hold{worker: worker, node: lease.NodeName(), token: lease.FencingToken(), from: now}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = append(r.holds, h)
	r.byNode[h.node] = h
	t := &r.tallies[worker-1]
	t.Held++
	t.waited += waited
	t.longest = max(t.longest, waited)
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
	r.print(event{
		at: now, Worker: worker, Event: acquired, Node: h.node, Ahead: ahead, Token: h.token, Waited: milliseconds(waited), text: text,
	})
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
	held := now.Sub(h.from)
	t := &r.tallies[worker-1]
	t.heldFor += held
	if h.lost {
		t.Lost++
	}
	r.print(event{at: now, Worker: worker, Event: what, Node: h.node, Token: h.token, Held: milliseconds(held), text: text(held)})
}

func (r *report) note(worker int, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(event{at: time.Now(), Worker: worker, Event: note, text: text})
}

// cut reports that a worker is cut off: its connection says nothing about the servers any more.
func (r *report) cut(worker int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isCut[worker-1] = true
	r.print(event{at: time.Now(), Worker: worker, Event: cut, text: "its connection is cut"})
}

// state reports what became of a worker's connection, and of all connections together.
func (r *report) state(worker int, now framework.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.connected[worker-1]
	r.connected[worker-1] = now == framework.StateConnected || now == framework.StateReconnected
	// before the beginning, at the end, and what is known
	if r.print == nil || r.finished || was && r.connected[worker-1] {
		return
	}
	at := time.Now()
	r.print(event{at: at, Worker: worker, Event: state, State: now.String(), state: now, text: "connection " + now.String()})
	if silent := r.nobodyAnswers(); silent != r.silent {
		r.silent = silent
		e := event{at: at, Event: servers, State: "back", text: "the servers answer again"}
		if silent {
			e.State, e.text = "gone", "waiting for the servers: no worker is connected"
		}
		r.print(e)
	}
}

// nobodyAnswers reports whether every worker that could be connected is not.
func (r *report) nobodyAnswers() bool {
	could := 0
	for i, connected := range r.connected {
		if r.isCut[i] {
			continue
		}
		could++
		if connected {
			return false
		}
	}
	return could > 0
}
