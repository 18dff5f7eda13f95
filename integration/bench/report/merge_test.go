package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/stats"
)

// piece is one round of two clients in one case.
func piece(c report.Case) *report.Results {
	r := &report.Results{Conditions: report.Conditions{
		Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Commit: "abc", Rounds: 1, Window: time.Second, Limit: 0.12, Cores: 2,
		Versions: map[string]string{"Go": "1.26"}, Missing: map[string]string{},
	}}
	for impl, rate := range map[string]float64{plan.Ours: 300, plan.Reference: 200} {
		r.Runs = append(r.Runs, report.Run{Case: c, Impl: impl, Figures: stats.Figures{Acquisitions: 1, Rate: rate}})
	}
	return r
}

// residue is a measurement without rounds.
func residue() *report.Results {
	r := piece(report.Case{})
	r.Runs, r.Conditions.Rounds, r.Conditions.Window, r.Conditions.Limit = nil, 0, 0, 0
	r.Conditions.Date = r.Conditions.Date.Add(-time.Hour)
	r.Conditions.Versions = map[string]string{"etcd server": "3"}
	r.Residue = []report.Residue{{Impl: "etcd", Found: stats.Residue{Ended: 9, Left: 4}}}
	return r
}

func TestMergedPiecesHaveTheirOwnRatiosAndOneHead(t *testing.T) {
	a, b := report.Case{Workload: "mp4"}, report.Case{Workload: "uncontended"}
	r, err := report.Merge([]*report.Results{piece(a), residue(), piece(b)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []report.Case{a, b} {
		if got := r.Ratio(c, plan.Ours, plan.Reference, report.Rate).Median; got != 1.5 {
			t.Errorf("%s: got %v times Java Curator's, want 1.5", c, got)
		}
	}
	c := r.Conditions
	if c.Rounds != 1 || c.Window != time.Second || c.Limit != 0.12 || c.Versions["Go"] != "1.26" || c.Versions["etcd server"] != "3" {
		t.Errorf("got %+v, want one round of a second, and all versions", c)
	}
	if len(r.Residue) != 1 {
		t.Errorf("got %d residues, want 1", len(r.Residue))
	}
}

func TestPiecesThatAreNotOneMeasurementAreRefused(t *testing.T) {
	other := report.Case{Workload: "own16"}
	for want, change := range map[string]func(*report.Results){
		"commits: abc and def":        func(r *report.Results) { r.Conditions.Commit = "def" },
		"was not measured on":         func(r *report.Results) { r.Conditions.Changed = true },
		"processors: 2  and 4 ":       func(r *report.Results) { r.Conditions.Cores = 4 },
		"kernels:  and 7":             func(r *report.Results) { r.Conditions.Kernel = "7" },
		"rounds: 1 and 2":             func(r *report.Results) { r.Conditions.Rounds = 2 },
		"windows: 1s and 2s":          func(r *report.Results) { r.Conditions.Window = 2 * time.Second },
		"processes: 0.12 and 0.5":     func(r *report.Results) { r.Conditions.Limit = 0.5 },
		"idle times: 0s and 1s":       func(r *report.Results) { r.Conditions.Idle = time.Second },
		"versions of Go: 1.26 and 1":  func(r *report.Results) { r.Conditions.Versions["Go"] = "1" },
		"mp4 is in two pieces":        func(r *report.Results) { r.Runs = append(r.Runs, report.Run{Case: report.Case{Workload: "mp4"}}) },
		"residue of etcd is in two":   func(r *report.Results) { r.Residue = residue().Residue },
		"2026-01-02 03:04 was not me": func(r *report.Results) { r.Conditions.Commit = "" },
	} {
		changed := piece(other)
		change(changed)
		if r, err := report.Merge([]*report.Results{piece(report.Case{Workload: "mp4"}), residue(), changed}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v and %v, want an error with %q", r != nil, err, want)
		}
	}
}

func TestOnePieceIsMergedAsItIs(t *testing.T) {
	want := piece(report.Case{Workload: "mp4"})
	want.Conditions.Commit = ""
	if got, err := report.Merge([]*report.Results{want}); got != want || err != nil {
		t.Errorf("got %v and %v, want the piece", got, err)
	}
	if r, err := report.Merge(nil); err == nil {
		t.Errorf("got %v of nothing, want an error", r)
	}
}
