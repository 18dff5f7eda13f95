package main

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func TestLatenessIsByTheClockThatWentOn(t *testing.T) {
	begun := time.Now()
	if got := lateness(begun, begun.Add(nap+time.Second)); got != time.Second {
		t.Errorf("got %v of a process that stood still, want 1s", got)
	}
	// A time without its monotonic clock is the time of day alone.
	if got := lateness(begun.Round(0), begun.Round(0).Add(nap+time.Hour)); got != time.Hour {
		t.Errorf("got %v of a machine that was suspended, want 1h", got)
	}
}

func TestNapsThatEndInTimeAreNoStalls(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		watchStalls(ctx, func(_ time.Time, d time.Duration) { t.Errorf("got a stall of %v, want none", d) })
	})
}
