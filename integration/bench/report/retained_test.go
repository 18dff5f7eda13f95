package report_test

import (
	"strings"
	"testing"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/stats"
)

func TestRetainedLocksHaveATableOfTheirOwn(t *testing.T) {
	r := measured()
	for round := range 2 {
		for impl, rate := range map[string]float64{plan.Ours: 100, plan.Retained: 90} {
			r.Runs = append(r.Runs, report.Run{Case: report.Case{Workload: "pingpong"}, Round: round, Impl: impl, Figures: stats.Figures{
				Acquisitions: int64(rate), Rate: rate, WaitMax: 1e5 / rate, Requests: rate / 50,
			}})
		}
		r.Runs = append(r.Runs, report.Run{Case: report.Case{Workload: "uncontended"}, Round: round, Impl: plan.Retained, Figures: stats.Figures{
			Acquisitions: 16000, Rate: 16000,
		}})
	}
	var text strings.Builder
	if err := r.Table(&text); err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(text.String(), "### Everything")
	want := "| 2 processes, no pause, loopback | 100 | 90.0 [90.0..90.0] | 0.90 |  | 1.00 [1.00..1.00] | 1.11 [1.11..1.11] | 2.00 | 1.80 |"
	if got := strings.Count(before, "| 2 processes, no pause, loopback |"); got != 1 || !strings.Contains(before, want) {
		t.Errorf("got %d lines of pingpong in:\n%s\nwant one, %s", got, before, want)
	}
	// In the tables of all clients they would be beside locks for which others wait. Java Curator has 1000 and 2000.
	want = "| 1 worker, 1 lock, loopback | 5000 | 16000 [16000..16000] | 5.00 | 12.0 |"
	tables, _, _ := strings.Cut(before, "### Safety")
	if !strings.Contains(before, want) || strings.Contains(tables, "retained") {
		t.Errorf("got retained locks in:\n%s\nwant them only in a line of their own table, %s", before, want)
	}
	for name := range r.Plots() {
		if strings.HasPrefix(name, "hand-over") {
			t.Errorf("got plot %s, want none: no case but pingpong hands over", name)
		}
	}
}

func TestRetainedLocksThatAreSlowerMissTheirTarget(t *testing.T) {
	r := measured()
	before, err := r.Check(new(strings.Builder))
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		for impl, rate := range map[string]float64{plan.Ours: 100, plan.Retained: 90} {
			r.Runs = append(r.Runs, report.Run{Case: report.Case{Workload: "pingpong"}, Round: round, Impl: impl, Figures: stats.Figures{
				Acquisitions: int64(rate), Rate: rate,
			}})
		}
	}
	var text strings.Builder
	after, err := r.Check(&text)
	if err != nil || after != before+1 {
		t.Errorf("got %d missed and %v, want %d:\n%s", after, err, before+1, text.String())
	}
}
