//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/stats"
)

// pieceFile writes the results of one run on a commit and returns their file.
func pieceFile(t *testing.T, dir, commit string, c report.Case) string {
	t.Helper()
	r := report.Results{Conditions: report.Conditions{Commit: commit, Rounds: 1}}
	for impl, rate := range map[string]float64{plan.Ours: 300, plan.Reference: 200} {
		r.Runs = append(r.Runs, report.Run{Case: c, Impl: impl, Figures: stats.Figures{Acquisitions: 1, Rate: rate, HandOverP50: -1, Same: -1}})
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "results.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestReportMakesOnePageOfPieces(t *testing.T) {
	dir := t.TempDir()
	a := pieceFile(t, filepath.Join(dir, "loopback"), "abc", report.Case{Workload: "mp4"})
	b := pieceFile(t, filepath.Join(dir, "disk"), "abc", report.Case{Workload: "uncontended", Disk: true})
	if err := reportCommand([]string{"-out", dir, a, b}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"commit abc,", "### Mutexes, loopback: acquisitions a second\n", "### Mutexes, loopback, disk: acquisitions a second\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in:\n%s", want, page)
		}
	}
	merged, err := report.Load(filepath.Join(dir, "results.json"))
	if err != nil || len(merged.Runs) != 4 {
		t.Errorf("got %d runs (%v), want 4", len(merged.Runs), err)
	}
}

func TestReportRefusesWhatItCannotMerge(t *testing.T) {
	dir := t.TempDir()
	a := pieceFile(t, filepath.Join(dir, "a"), "abc", report.Case{Workload: "mp4"})
	b := pieceFile(t, filepath.Join(dir, "b"), "def", report.Case{Workload: "own16"})
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no file":               {nil, "usage"},
		"no directory":          {[]string{a, b}, "usage"},
		"a piece's directory":   {[]string{"-out", filepath.Dir(a), a, b}, "would be lost"},
		"two commits":           {[]string{"-out", dir, a, b}, "commits: abc and def"},
		"a file that is absent": {[]string{filepath.Join(dir, "none.json")}, "none.json"},
	} {
		if err := reportCommand(test.args); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "results.md")); err == nil {
		t.Error("got a page of pieces that cannot be merged")
	}
}
