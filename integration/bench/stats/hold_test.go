package stats_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/bench/stats"
)

func hold(worker int, from, to int64) stats.Hold {
	return stats.Hold{Worker: worker, Acquired: from, Releasing: to}
}

func writer(worker int, from, to int64) stats.Hold {
	return stats.Hold{Worker: worker, Acquired: from, Releasing: to, Wrote: true}
}

func TestOverlaps(t *testing.T) {
	for _, test := range []struct {
		name  string
		room  int
		alone bool
		holds []stats.Hold
		want  int
	}{
		{"one after the other", 1, false, []stats.Hold{hold(1, 0, 10), hold(2, 11, 20)}, 0},
		{"at the same instant", 1, false, []stats.Hold{hold(1, 0, 10), hold(2, 10, 20)}, 0},
		{"one too early", 1, false, []stats.Hold{hold(1, 0, 10), hold(2, 9, 20)}, 1},
		{"two inside a third", 1, false, []stats.Hold{hold(1, 0, 100), hold(2, 10, 20), hold(3, 30, 40)}, 2},
		{"a semaphore with room", 2, false, []stats.Hold{hold(1, 0, 10), hold(2, 1, 11), hold(3, 10, 20)}, 0},
		{"a semaphore without", 2, false, []stats.Hold{hold(1, 0, 10), hold(2, 1, 11), hold(3, 9, 20)}, 1},
		{"readers together", 4, true, []stats.Hold{hold(1, 0, 10), hold(2, 1, 11), hold(3, 2, 12)}, 0},
		{"a writer beside a reader", 4, true, []stats.Hold{hold(1, 0, 10), writer(2, 9, 20)}, 1},
		{"a reader beside a writer", 4, true, []stats.Hold{writer(1, 0, 10), hold(2, 9, 20)}, 1},
		{"a writer between readers", 4, true, []stats.Hold{hold(1, 0, 10), writer(2, 10, 20), hold(3, 20, 30)}, 0},
	} {
		if got := stats.Overlaps(test.holds, test.room, test.alone); got != test.want {
			t.Errorf("%s: %d overlaps, want %d", test.name, got, test.want)
		}
	}
}

func TestMergeSortsAllProcessesAndStopsWhereSomethingIsMissing(t *testing.T) {
	workers := []job.Worker{
		{Number: 0, Stamps: []int64{0, 20, 30, 31, 0, 31, 60, 70, 71, 1}},
		{Number: 1, Stamps: []int64{0, 40, 50, 51, 0}, Full: 60},
	}
	want := []stats.Hold{
		{Worker: 0, Called: 0, Acquired: 20, Releasing: 30, Released: 31},
		{Worker: 1, Called: 0, Acquired: 40, Releasing: 50, Released: 51},
	}
	if got := stats.Merge(workers); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestHandOversAreThoseToAnother(t *testing.T) {
	took, same := stats.HandOvers([]stats.Hold{hold(1, 0, 10), hold(2, 15, 20), hold(2, 21, 30), hold(1, 37, 40), hold(2, 41, 42)})
	if want := []float64{5, 7, 1}; !slices.Equal(took, want) {
		t.Errorf("they took %v, want %v", took, want)
	}
	if same != 0.25 {
		t.Errorf("the same worker again: %v, want 0.25", same)
	}
}

func TestFigures(t *testing.T) {
	const window = 100 * time.Microsecond
	workers := []job.Worker{
		{Number: 0, Acquired: 2, Stamps: []int64{-5e3, 5e3, 10e3, 12e3, 0, 20e3, 60e3, 70e3, 72e3, 0}},
		// Its second wait is cut off by the end of the window.
		{Number: 1, Acquired: 1, Errors: 1, Error: "late", Stamps: []int64{0, 20e3, 40e3, 50e3, 0, 50e3, 150e3, 151e3, 152e3, 0}},
	}
	f := stats.Of(workers, window, stats.Rules{Room: 1})
	if f.Acquisitions != 3 || f.Rate != 30000 || f.Most != 2 || f.Fewest != 1 || f.Errors != 1 || f.Error != "late" || f.Overlaps != 0 {
		t.Errorf("got %+v", f)
	}
	if f.WaitP99 != 50 || f.WaitP50 != 20 {
		t.Errorf("waits %v and %v, want 20 and 50: of 10, 20, 40 and one of 50 so far", f.WaitP50, f.WaitP99)
	}
	if f.WaitMax != 50 {
		t.Errorf("got a longest wait of %v, want 50", f.WaitMax)
	}
	if f.HandOverP50 != 10 || f.HandOverP99 != 20 {
		t.Errorf("hand-overs %v and %v, want 10 and 20", f.HandOverP50, f.HandOverP99)
	}
	if f.Requests != -1 || f.ClientCPU != -1 {
		t.Errorf("got figures without measurements: %+v", f)
	}
}

func TestOwnLocksMayBeHeldTogether(t *testing.T) {
	workers := []job.Worker{
		{Number: 0, Acquired: 1, Stamps: []int64{0, 10, 50, 60, 0}},
		{Number: 1, Acquired: 1, Stamps: []int64{0, 10, 50, 60, 0}},
	}
	if f := stats.Of(workers, time.Second, stats.Rules{Room: 1, Own: true}); f.Overlaps != 0 || f.HandOverP50 != -1 {
		t.Errorf("got %+v", f)
	}
	if f := stats.Of(workers, time.Second, stats.Rules{Room: 1}); f.Overlaps != 1 {
		t.Errorf("one lock: %d overlaps, want 1", f.Overlaps)
	}
}
