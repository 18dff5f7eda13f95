//go:build linux

package interop_test

import (
	"time"

	"github.com/gocurator/curator/integration/interop/godriver"
)

// A clock is the interval in which the difference of CLOCK_MONOTONIC, which drivers go by, and the time of day, which
// servers go by, lies.
type clock span

// lookAtClocks is as exact as the quickest of many looks.
func lookAtClocks() clock {
	var best clock
	for i := range 100 {
		from := godriver.Now()
		day := time.Now().UnixNano()
		if c := (clock{from - day, godriver.Now() - day}); i == 0 || c.to-c.from < best.to-best.from {
			best = c
		}
	}
	return best
}

// learnRemovals has the history know what the server has removed, now that nothing is left to be removed.
func (r *run) learnRemovals() {
	r.t.Helper()
	c := lookAtClocks()
	c.from, c.to = min(c.from, r.clock.from), max(c.to, r.clock.to)
	if c.to-c.from > int64(10*time.Millisecond) { // most holds are not much longer
		r.t.Fatalf("the time of day was set by %v while the test ran: nothing can be judged", time.Duration(c.to-c.from))
	}
	all, err := r.server.Removals()
	if err != nil {
		r.t.Fatal(err)
	}
	removed := map[string]removal{}
	for path, one := range all {
		at := one.At.UnixNano()
		removed[path] = removal{
			span: span{at + c.from, at + int64(time.Millisecond) + c.to}, by: one.By, owner: one.Owner,
		}
	}
	r.history.knows(removed)
}
