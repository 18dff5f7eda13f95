package main

import (
	"context"
	"io"
	"slices"
	"strings"
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

func TestAStallIsPrintedBesideTheTestsThatMetIt(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(second int, e event) event { e.Time = noon.Add(time.Duration(second) * time.Second); return e }
	var printed strings.Builder
	r := newReport(&printed, false)
	take := func(all ...event) {
		if err := r.read(strings.NewReader(events(t, all...))); err != nil {
			t.Fatal(err)
		}
	}
	take(at(0, begins("TestBefore")), at(1, output("TestBefore", "    a_test.go:1: no\n")), at(1, ends("TestBefore", "fail")),
		at(1, begins("TestWaits")), at(1, event{Action: "pause", Test: "TestWaits"}),
		at(1, begins("TestIn")), at(1, begins("TestIn/it")), at(2, event{Action: "run", Package: "x/q", Test: "TestPasses"}))
	r.recordStall(noon.Add(3*time.Second), 2500*time.Millisecond)
	take(at(7, output("TestIn/it", "        a_test.go:2: no\n")), at(7, ends("TestIn/it", "fail")), at(7, ends("TestIn", "fail")),
		at(7, event{Action: "cont", Test: "TestWaits"}), at(8, ends("TestWaits", "fail")), at(7, begins("TestAfter")), at(8, ends("TestAfter", "fail")), ends("", "fail"))
	if want := "the machine stalled for 2.5 s at 12:00:03, while there ran x/p TestIn, x/q TestPasses\n"; !strings.Contains(printed.String(), want) {
		t.Errorf("got\n%swant\n%s", printed.String(), want)
	}
	want := "  the machine stalled for 2.5 s at 12:00:03, in TestIn, TestIn/it\n"
	if got := strings.Join(r.failures, ""); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%swant at its end\n%s", got, want)
	}
}

// The events of tests that ended with a stall may be read before it is noticed.
func TestAStallNamesTestsThatHaveEndedSince(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(second int, e event) event { e.Time = noon.Add(time.Duration(second) * time.Second); return e }
	r := newReport(io.Discard, false)
	in := events(t, at(0, begins("TestBefore")), at(1, ends("TestBefore", "pass")), at(1, begins("TestIn")), at(6, ends("TestIn", "pass")),
		at(6, begins("TestAfter")))
	if err := r.read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	r.recordStall(noon.Add(3*time.Second), 2*time.Second)
	if got := r.stalls[0].tests; !slices.Equal(got, []string{"x/p TestIn"}) {
		t.Errorf("got %v, want x/p TestIn alone", got)
	}
}
