package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/stats"
)

// measured are two rounds in which this library is twice, and then four times as quick as Java Curator.
func measured() *report.Results {
	r := &report.Results{Conditions: report.Conditions{
		Commit: "abc", Cores: 4, Rounds: 2, Window: time.Second, Limit: 0.12, Missing: map[string]string{"redsync": "not installed"},
	}}
	add := func(c report.Case, impl string, rates ...float64) {
		for round, rate := range rates {
			r.Runs = append(r.Runs, report.Run{Case: c, Round: round, Impl: impl, Figures: stats.Figures{
				Acquisitions: int64(rate), Rate: rate, HandOverP50: -1, HandOverP99: -1, Same: -1, Requests: 3, ClientCPU: 1e6 / rate,
				WaitP50: 1000, WaitP99: 2000, Most: 100, Fewest: 80,
			}})
		}
	}
	for _, workload := range []string{"fair16", "uncontended"} {
		add(report.Case{Workload: workload}, plan.Ours, 2000, 8000)
		add(report.Case{Workload: workload}, plan.Reference, 1000, 2000)
	}
	add(report.Case{Workload: "uncontended", Disk: true}, plan.Ours, 500, 600)
	return r
}

func TestRatiosAreThoseOfTheSameRound(t *testing.T) {
	got := measured().Ratio(report.Case{Workload: "uncontended"}, plan.Ours, plan.Reference, report.Rate)
	if want := (stats.Spread{Median: 3, Min: 2, Max: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := measured().Ratio(report.Case{Workload: "uncontended"}, plan.Ours, "kazoo", report.Rate); !math.IsNaN(got.Median) {
		t.Errorf("got %+v against a client that was not measured", got)
	}
}

func TestCasesHaveTheOrderOfThePlan(t *testing.T) {
	var names []string
	for _, c := range measured().Cases() {
		names = append(names, c.String())
	}
	if got, want := strings.Join(names, "; "), "uncontended; fair16; uncontended, disk"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTable(t *testing.T) {
	r := measured()
	r.Runs = append(r.Runs, report.Run{Case: report.Case{Workload: "fair16"}, Impl: "kazoo", Failed: "no answer"})
	var text strings.Builder
	if err := r.Table(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"commit abc, 4 cores",
		"### Mutexes, loopback: acquisitions a second, as multiples of Java Curator's\n\n" +
			"| | 1 worker, 1 lock | 4 processes, 16 workers, 1 lock, held for 1 ms |\n|---|---|---|\n" +
			"| this library | 3.00 | 3.00 |\n| Java Curator | 1.00 | 1.00 |\n| redsync, one Redis in memory | not installed | not installed |\n",
		"### Mutexes, loopback: acquisitions a second\n\n" +
			"| | 1 worker, 1 lock | 4 processes, 16 workers, 1 lock, held for 1 ms |\n|---|---|---|\n" +
			"| this library | 5000 | 5000 |\n| Java Curator | 1500 | 1500 |\n",
		"### Mutexes, loopback, disk: acquisitions a second\n\n| | 1 worker, 1 lock |\n|---|---|\n| this library | 550 |\n",
		"### Mutexes, loopback: requests for each acquisition, at ZooKeeper\n",
		"| this library | 1.00 | 2.00 | 1.25 |\n",
		"| redsync, one Redis in memory | not installed | | |\n",
		"| 1 worker, 1 lock, loopback, disk | this library | 550 [500..600] |",
		"* fair16, kazoo, round 1 failed: no answer",
		"holds overlapped: 0.",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, text.String())
		}
	}
}

// A table without any figure would be a question, not an answer.
func TestTablesWithoutFiguresAreLeftOut(t *testing.T) {
	var text strings.Builder
	if err := measured().Table(&text); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(text.String(), "hand-over to another worker"); got != 0 {
		t.Errorf("got %d tables of hand-overs, want none: no run handed over\n%s", got, text.String())
	}
	if strings.Contains(text.String(), "disk: requests") {
		t.Errorf("got a table of requests at a disk, want only one on loopback:\n%s", text.String())
	}
}

func TestProseOfThePageIsAtMost120ColumnsWide(t *testing.T) {
	r := measured()
	r.Conditions.Versions = map[string]string{}
	for i := range 40 {
		r.Conditions.Versions[fmt.Sprintf("server %d", i)] = "1.2.3"
	}
	var text strings.Builder
	if err := r.Table(&text); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 && !strings.HasPrefix(line, "|") {
			t.Errorf("got %d columns: %s", n, line)
		}
	}
	if want := "server 39 1.2.3, "; !strings.Contains(strings.ReplaceAll(text.String(), "\n", " "), want) {
		t.Errorf("the tables lack %q", want)
	}
}

func TestCheck(t *testing.T) {
	var text strings.Builder
	missed, err := measured().Check(&text)
	if err != nil {
		t.Fatal(err)
	}
	if missed != 1 { // most/fewest is 1.25
		t.Errorf("%d missed, want 1:\n%s", missed, text.String())
	}
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, "≥ 1.25 × java-curator") && !strings.Contains(line, "met") {
			t.Errorf("3 times is at least 1.25 times: %s", line)
		}
	}
}

func TestResultsOutliveAFile(t *testing.T) {
	text, err := json.Marshal(measured())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "results.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := report.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != string(text) {
		t.Errorf("got %s, want %s", again, text)
	}
}
