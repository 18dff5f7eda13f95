package leader

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest/explore"
)

var modelStates = flag.Int("model.states", 2_000, "how many states of each world of latches are visited; 0: all")

var errCampaign = errors.New("the campaign has failed")

// The model is two latches in one queue: their standings are the real ones; run, lead, Start and Close (latch_run.go)
// are counters of the sections that they take l.mu for, and of what they wait for between.
//
// A term is valid from its admission, when its node is the first, until it is released, or lost by the clock. Its node
// goes after that; if it is released, after the call of ended as well, which locks promises (lockopt.Variant). The call
// of a term that was lost comes at any time.
//
// All states of each world are visited by default, in a few seconds of one processor for all five:
//
//	one latch                  12,253 states, at most 32 steps from the start
//	one latch, two faults      14,970, 30
//	two latches                 6,066, 26
//	two latches and a fault     8,634, 22
//	two latches and a release  10,644, 28

// A leading is where run is.
type leading byte

const (
	off        leading = iota // no run, or it has returned
	standingIn                // in Acquire, without a node
	queued                    // in Acquire, with one
	acquired                  // Acquire has returned the term
	serving                   // the term is set; lead waits
	released                  // the term has ended, and its call of ended has not come
	removing                  // Release waits for the removal
	leaving                   // Release has returned
	failing                   // Acquire has returned an error
	pausing                   // before the next campaign
)

// A calling is where Start, or Close, is.
type calling byte

const (
	uncalled calling = iota
	waiting          // Start: for the node, or the first campaign; Close: for run
	stopping         // Start: for run, after an error
	returned
)

const maxTerms = 5

// A modelLatch has terms 1, 2 … one for each node.
type modelLatch struct {
	standing standing[int8]
	run      leading
	start    calling
	ending   calling // Close
	stopped  bool    // the context of run
	stood    bool    // there is news that it has a node
	first    int8    // how the first campaign has ended: 1 with a term, 2 with an error
	err      error   // Acquire's
	term     int8    // the newest
	over     [maxTerms + 1]bool
	late     int8 // calls of ended that are to come
	heard    bool // the newest call of a listener said that it leads
	starts   int8 // left
}

type place struct {
	latch, term int8
	removable   bool
}

type leaders struct {
	latches  [2]modelLatch
	queue    [2 * maxTerms]place // the nodes, the first ones first
	nodes    int
	faults   int8 // left
	releases int8 // left to the program
	closes   int8
	over     bool // the client has ended
	wrong    string
	broken   string
}

// name says what happens to a latch.
func name(i int, what string) string { return fmt.Sprintf("latch %d: %s", i, what) }

func (w leaders) valid(i int) bool {
	l := &w.latches[i]
	return l.run >= acquired && l.run <= released && !l.over[l.term]
}

func (w leaders) hasLeadership(i int) bool {
	l := &w.latches[i]
	return l.standing.leads() && !l.isOver(l.standing.term)
}

func (l *modelLatch) isOver(term int8) bool { return l.over[term] }

// note is noteLocked.
func (w *leaders) note(l *modelLatch, term int8, failed error) {
	if l.standing.note(term, failed) {
		if l.heard == (term != 0) {
			w.wrong = fmt.Sprintf("a listener hears %t twice", l.heard)
		}
		l.heard = term != 0
	}
}

// ended is LeaderLatch.ended.
func (w *leaders) ended(l *modelLatch) {
	if l.standing.leads() && (l.isOver(l.standing.term) || w.broken == "a late call ends the next term") {
		w.note(l, 0, nil)
	}
}

// leave has a node go, now or later.
func (w *leaders) leave(i int8, term int8) {
	w.latches[i].over[term] = true
	for at := range w.queue[:w.nodes] {
		if p := &w.queue[at]; p.latch == i && p.term == term {
			p.removable = true
		}
	}
}

func (w leaders) has(i, term int8) bool {
	return slices.ContainsFunc(w.queue[:w.nodes], func(p place) bool { return p.latch == i && p.term == term })
}

type stepping func(name string, next leaders)

// steps calls step with all that can happen; the names of faults, and of what programs do, have an exclamation mark.
func (w leaders) steps(step stepping) {
	for at, p := range w.queue[:w.nodes] {
		if p.removable {
			next := w
			copy(next.queue[at:], w.queue[at+1:])
			next.queue[len(w.queue)-1] = place{}
			next.nodes--
			step(name(int(p.latch), "its old node goes"), next)
		}
	}
	if w.faults > 0 && !w.over {
		next := w
		next.over, next.faults = true, w.faults-1
		for i := range next.latches {
			if l := &next.latches[i]; w.valid(i) {
				next.leave(int8(i), l.term)
				l.late++
			}
		}
		step("the client ends!", next)
	}
	for i := range w.latches {
		do := func(what string, input func(w *leaders, l *modelLatch)) {
			next := w
			input(&next, &next.latches[i])
			step(name(i, what), next)
		}
		w.running(int8(i), do)
		w.starting(i, do)
		w.closing(i, do)
	}
}

type doing func(what string, input func(w *leaders, l *modelLatch))

// running is run and lead.
func (w leaders) running(i int8, do doing) {
	l := &w.latches[i]
	fails := func(what string, err error) {
		do("the campaign "+what, func(w *leaders, l *modelLatch) {
			if l.run == queued {
				w.leave(i, l.term)
			}
			l.run, l.err = failing, err
			if l.first == 0 {
				l.first = 2
			}
			if strings.HasSuffix(what, "!") {
				w.faults--
			}
		})
	}
	if l.run == standingIn || l.run == queued {
		if l.stopped || w.over {
			fails("is stopped", nil)
		} else if w.faults > 0 {
			fails("fails!", errCampaign)
			fails("is cut off!", nil)
		}
	}
	if w.valid(int(i)) && w.faults > 0 {
		do("the term is lost!", func(w *leaders, l *modelLatch) {
			w.leave(i, l.term)
			l.late++
			w.faults--
		})
	}
	if l.run == serving && w.valid(int(i)) && w.releases > 0 {
		do("the program releases the term!", func(w *leaders, l *modelLatch) {
			w.leave(i, l.term) // its call of ended comes from Release
			w.ended(l)
			w.releases--
		})
	}
	if l.late > 0 {
		do("a late call of ended", func(w *leaders, l *modelLatch) {
			l.late--
			w.ended(l)
		})
	}
	switch {
	case l.run == standingIn && !w.over && l.term < maxTerms:
		do("gets a node", func(w *leaders, l *modelLatch) {
			l.run, l.stood = queued, true
			l.term++
			w.queue[w.nodes] = place{latch: i, term: l.term}
			w.nodes++
		})
	case l.run == queued && !w.over && w.queue[0].latch == i && w.queue[0].term == l.term:
		do("is admitted", func(_ *leaders, l *modelLatch) {
			l.run, l.err = acquired, nil
			if l.first == 0 {
				l.first = 1
			}
		})
	case l.run == acquired:
		do("sets the term", func(w *leaders, l *modelLatch) {
			l.run = serving
			w.note(l, l.term, nil)
		})
	case l.run == serving && (l.stopped || l.over[l.term]):
		do("releases the term", func(_ *leaders, l *modelLatch) {
			if l.run = removing; !l.over[l.term] {
				l.run, l.over[l.term] = released, true
			}
		})
	case l.run == released:
		do("the call of ended", func(w *leaders, l *modelLatch) {
			l.run = removing
			w.ended(l)
			w.leave(i, l.term)
		})
	case l.run == removing:
		do("Release returns", func(w *leaders, l *modelLatch) { // with the answer, or without
			l.run, l.standing.left = leaving, nil
			if w.has(i, l.term) {
				l.standing.left = errCampaign
			}
		})
	case l.run == leaving:
		do("lead returns", func(w *leaders, l *modelLatch) {
			if l.run = failing; w.broken != "lead forgets the end" {
				w.ended(l)
			}
		})
	case l.run == failing:
		do("looks on", func(w *leaders, l *modelLatch) {
			switch l.run = pausing; {
			case w.over:
				l.run = off
				w.note(l, 0, errCampaign)
			case l.stopped:
				l.run = off
			default:
				w.note(l, 0, l.err)
			}
		})
	case l.run == pausing:
		do("stands again", func(_ *leaders, l *modelLatch) {
			if l.run = standingIn; l.stopped {
				l.run = off
			}
		})
	}
}

// starting is Start, which may be called again after it has failed.
func (w leaders) starting(i int, do doing) {
	l := &w.latches[i]
	fail := func(_ *leaders, l *modelLatch) { l.start, l.stopped = stopping, true }
	switch {
	case l.starts > 0 && (l.start == uncalled || l.start == returned):
		do("Start!", func(w *leaders, l *modelLatch) {
			if l.starts--; l.standing.start() == nil {
				l.start, l.run, l.stopped, l.stood, l.first = waiting, standingIn, false, false, 0
			}
		})
	case l.start == stopping && l.run == off:
		do("Start has failed", func(_ *leaders, l *modelLatch) {
			l.start = returned
			_ = l.standing.startFailed(errCampaign)
		})
	case l.start == waiting:
		if l.stood || l.first == 1 {
			do("Start returns", func(_ *leaders, l *modelLatch) { l.start, l.stood = returned, false })
		}
		if l.first == 2 {
			do("Start hears of a failure", fail)
		}
		if w.faults > 0 {
			do("the context of Start ends!", func(w *leaders, l *modelLatch) {
				w.faults--
				fail(w, l)
			})
		}
	}
}

func (w leaders) closing(i int, do doing) {
	switch l := &w.latches[i]; {
	case l.ending == uncalled && w.closes > 0:
		do("Close!", func(w *leaders, l *modelLatch) {
			w.closes--
			l.standing.close()
			l.ending, l.stopped = waiting, true
		})
	case l.ending == waiting && l.run == off:
		do("Close returns", func(_ *leaders, l *modelLatch) { l.ending = returned })
	}
}

func (w leaders) check() error {
	if w.wrong != "" {
		return errors.New(w.wrong)
	}
	leading := 0
	for i := range w.latches {
		l := &w.latches[i]
		if w.hasLeadership(i) || w.broken == "HasLeadership believes a term that has ended" && l.standing.leads() {
			leading++
		}
		term, waits, err := l.standing.await(l.isOver)
		switch {
		case err == nil && !waits && (!w.valid(i) || term != l.term):
			return errors.New(name(i, "Await returns a term that does not last"))
		case l.standing.closed && !errors.Is(err, ErrNotStarted):
			return errors.New(name(i, "Await does not see that it is closed"))
		case l.ending == returned && (l.heard || l.standing.leads()):
			return errors.New(name(i, "a term lasts after Close"))
		case l.ending == returned && l.run != off:
			return errors.New(name(i, "it runs after Close"))
		}
	}
	if leading > 1 {
		return errors.New("two latches lead")
	}
	return nil
}

// isEnd reports whether nothing is left to do: each latch leads, waits behind the other, or is out.
func (w leaders) isEnd() bool {
	for i, p := range w.queue[:w.nodes] {
		if p.removable || w.latches[p.latch].run == queued && i == 0 {
			return false
		}
	}
	for i := range w.latches {
		l := &w.latches[i]
		started := l.standing.started && !l.standing.closed && !w.over
		_, waits, err := l.standing.await(l.isOver)
		switch {
		case l.late > 0, l.start == waiting, l.start == stopping, l.ending == waiting, l.heard != w.hasLeadership(i):
			return false
		case l.run == off && !started, l.run == queued && started && w.has(int8(i), l.term):
		case l.run == serving && started && l.heard && err == nil && !waits:
		default:
			return false
		}
	}
	return true
}

func (w leaders) explore(limit int) (explore.Result, error) {
	return explore.Model[leaders]{
		Start:   w,
		Key:     func(key []byte, w leaders) []byte { return fmt.Append(key, w) },
		Steps:   func(w leaders, step func(string, leaders)) { w.steps(step) },
		Check:   leaders.check,
		IsEnd:   leaders.isEnd,
		IsFault: func(name string) bool { return strings.HasSuffix(name, "!") },
		Limit:   limit,
	}.Explore()
}

// newLeaders makes a world of latches that may be started so often. One that may not is out.
func newLeaders(first, second, faults, releases, closes int8) leaders {
	w := leaders{faults: faults, releases: releases, closes: closes}
	w.latches[0].starts, w.latches[1].starts = first, second
	return w
}

func TestLatchesAreRightInEveryState(t *testing.T) {
	for name, w := range map[string]leaders{
		"one latch":                 newLeaders(2, 0, 1, 1, 1),
		"one latch, two faults":     newLeaders(1, 0, 2, 0, 1),
		"two latches":               newLeaders(1, 1, 0, 0, 2),
		"two latches and a fault":   newLeaders(1, 1, 1, 0, 0),
		"two latches and a release": newLeaders(1, 1, 0, 1, 1),
	} {
		t.Run(name, func(t *testing.T) {
			result, err := w.explore(*modelStates)
			if t.Log(result); err != nil {
				t.Error(err)
			}
		})
	}
}

// What the latches rely on.
func TestModelOfLatchesFindsWhatIsBroken(t *testing.T) {
	for broken, test := range map[string]struct {
		world leaders
		want  string
	}{
		"lead forgets the end":                         {newLeaders(1, 0, 1, 0, 1), "a term lasts after Close"},
		"a late call ends the next term":               {newLeaders(1, 0, 1, 0, 0), explore.ErrStuck.Error()},
		"HasLeadership believes a term that has ended": {newLeaders(1, 1, 1, 0, 0), "two latches lead"},
	} {
		test.world.broken = broken
		if _, err := test.world.explore(0); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", broken, err, test.want)
		}
	}
}
