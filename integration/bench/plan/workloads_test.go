package plan_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
)

func TestThinkTimesAreMultiplesOfTheIdleTime(t *testing.T) {
	for _, test := range []struct {
		workload string
		process  int
		want     time.Duration
	}{
		{"mp4", 3, 0},
		{"pingpong-think0.5", 1, 5 * time.Millisecond},
		{"mp16-think10", 0, 100 * time.Millisecond},
		{"mp16-think10", 15, 100 * time.Millisecond},
		{"mp16-graded10", 0, 0},
		{"mp16-graded10", 3, 20 * time.Millisecond},
		{"mp16-graded10", 15, 100 * time.Millisecond},
	} {
		w, ok := plan.Named(test.workload)
		if got := w.ThinkTime(test.process, 10*time.Millisecond); !ok || got != test.want {
			t.Errorf("%s, process %d: got %v, want %v", test.workload, test.process, got, test.want)
		}
	}
}

func TestRetentionIsComparedByThisLibraryAlone(t *testing.T) {
	for _, w := range plan.Workloads {
		for _, i := range plan.Impls {
			want := i.ID == plan.Ours || i.ID == plan.Retained || i.ID == plan.Reference && w.ID == "pingpong"
			if got := i.Runs(w); w.Retention && got != want {
				t.Errorf("%s, %s: runs: got %v, want %v", w.ID, i.ID, got, want)
			}
		}
	}
}
