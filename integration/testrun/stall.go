package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	nap        = 10 * time.Millisecond
	stallAfter = 500 * time.Millisecond // that a nap takes longer
)

// watchStalls sleeps for a short time, again and again until ctx ends, and calls stalled if that took much longer: then
// the machine has run nothing, or not this process.
func watchStalls(ctx context.Context, stalled func(from time.Time, d time.Duration)) {
	timer := time.NewTimer(nap)
	defer timer.Stop()
	for {
		begun := time.Now()
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if late := lateness(begun, time.Now()); late >= stallAfter {
			stalled(begun, late)
		}
		timer.Reset(nap)
	}
}

// lateness is how much longer a nap took. A suspended machine stops the monotonic clock, but not the time of day.
func lateness(begun, ended time.Time) time.Duration {
	return max(ended.Sub(begun), ended.Round(0).Sub(begun.Round(0))) - nap
}

// A stall is a time in which testrun did not run: the machine stood still, or had too much to do.
type stall struct {
	from  time.Time
	d     time.Duration
	tests []string // that ran
}

func (s stall) String() string {
	return fmt.Sprintf("the machine stalled for %.1f s at %s", s.d.Seconds(), s.from.Format(time.TimeOnly))
}

// A span is when a test ran.
type span struct {
	name         testName
	begun, ended time.Time
}

// meets reports whether the test ran during the stall.
func (s span) meets(t stall) bool { return s.begun.Before(t.from.Add(t.d)) && t.from.Before(s.ended) }

// recordStall takes a stall, and prints which tests met it. Some of them may have ended since.
func (r *report) recordStall(from time.Time, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := stall{from: from, d: d}
	for name, p := range r.packages {
		for test, t := range p.running {
			if !t.paused && !strings.Contains(test, "/") && t.begun.Before(from.Add(d)) {
				s.tests = append(s.tests, testName{name, test}.String())
			}
		}
	}
	for _, ended := range r.recent {
		if ended.meets(s) {
			s.tests = append(s.tests, ended.name.String())
		}
	}
	slices.Sort(s.tests)
	r.stalls = append(r.stalls, s)
	line := s.String()
	if len(s.tests) > 0 {
		line += ", while there ran " + strings.Join(s.tests, ", ")
	}
	r.print(line + "\n")
}

// stallLines says which stalls the tests met that have failed in a package, or never ended.
func (r *report) stallLines(name string, p *result) (lines []string) {
	spans := p.spans
	for test, t := range p.running {
		spans = append(spans, span{testName{name, test}, t.begun, time.Now()})
	}
	for _, s := range r.stalls {
		met := map[string]bool{}
		for _, ran := range spans {
			if ran.meets(s) {
				met[ran.name.test] = true
			}
		}
		if len(met) > 0 {
			lines = append(lines, fmt.Sprintf("  %s, in %s\n", s, strings.Join(slices.Sorted(maps.Keys(met)), ", ")))
		}
	}
	return lines
}
