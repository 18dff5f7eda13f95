//go:build linux

package interop_test

import (
	"time"

	"github.com/gocurator/curator/integration/interop/godriver"
)

// A clock says by how much CLOCK_MONOTONIC, which drivers go by, is ahead of the time of day, which servers go by.
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
	c.from, c.to = min(c.from, r.clock.from), max(c.to, r.clock.to) // the time of day drifts
	if c.to-c.from > int64(time.Second) {
		r.t.Fatalf("the time of day was set while the test ran: by %v", time.Duration(c.to-c.from))
	}
	all, err := r.server.Removals()
	if err != nil {
		r.t.Fatal(err)
	}
	removed := map[string]span{}
	for path, at := range all {
		removed[path] = span{at.UnixNano() + c.from, at.Add(time.Millisecond).UnixNano() + c.to}
	}
	r.history.knows(removed)
}
