package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/stats"
)

func TestWhatThisLibraryLeavesIsATarget(t *testing.T) {
	for _, c := range []struct {
		found  stats.Residue
		failed string
		want   int
	}{{stats.Residue{Ended: 400}, "", 0}, {stats.Residue{Ended: 400, Left: 1}, "", 1}, {stats.Residue{}, "", 1}, {stats.Residue{Ended: 4}, "no", 1}} {
		r := &report.Results{Residue: []report.Residue{
			{Impl: plan.Ours, Found: c.found, Failed: c.failed}, {Impl: "etcd", Found: stats.Residue{Ended: 9, Left: 9}},
		}}
		var text strings.Builder
		if missed, err := r.Check(&text); missed != c.want || err != nil {
			t.Errorf("%+v: got %d missed and %v, want %d:\n%s", c, missed, err, c.want, text.String())
		}
	}
}

// targetsOf are those of one client against another, or alone, in a case that was measured.
func targetsOf(r *report.Results, c report.Case, what, against string) (found []report.Target) {
	for _, t := range r.Targets() {
		if t.Case == c && t.What == what && t.Against == against {
			found = append(found, t)
		}
	}
	return found
}

func TestTargetsAreThoseThatTheLibraryMeansToReach(t *testing.T) {
	r := measured()
	for _, want := range []report.Target{
		{Case: report.Case{Workload: "mp4"}, What: "acquisitions", Against: plan.Reference, AtLeast: 2},
		{Case: report.Case{Workload: "mp4", Delay: 2 * time.Millisecond}, What: "acquisitions", Against: plan.Reference, AtLeast: 2},
		{Case: report.Case{Workload: "own16"}, What: "acquisitions", Against: plan.Floor, AtLeast: 0.97},
		{Case: report.Case{Workload: "own16", Delay: 2 * time.Millisecond}, What: "acquisitions", Against: plan.Floor, AtLeast: 0.97},
		{Case: report.Case{Workload: "uncontended"}, What: "client CPU", Against: plan.Reference, AtMost: 0.5},
		{Case: report.Case{Workload: "fair16"}, What: "wait p99", Against: "nats", AtMost: 0.5},
		{Case: report.Case{Workload: "fair16"}, What: "most/fewest", Against: "nats", AtMost: 1},
		{Case: report.Case{Workload: "fair16"}, What: "most/fewest", Against: "postgres", AtMost: 1.05},
	} {
		found := targetsOf(r, want.Case, want.What, want.Against)
		if len(found) != 1 || found[0].AtLeast != want.AtLeast || found[0].AtMost != want.AtMost || found[0].Impl != plan.Ours {
			t.Errorf("%s, %s against %s: got %+v, want one with %v and %v", want.Case, want.What, want.Against, found, want.AtLeast, want.AtMost)
		}
	}
	for _, t2 := range r.Targets() {
		if i, _ := plan.Client(t2.Against); i.Volatile && t2.What == "acquisitions" && t2.Impl == plan.Ours {
			t.Errorf("%s: got a target of speed against %s, whose locks are in memory alone", t2.Case, t2.Against)
		}
	}
}

func TestVerdictNamesTheMachineAndTheCommit(t *testing.T) {
	var text strings.Builder
	if _, err := measured().Check(&text); err != nil {
		t.Fatal(err)
	}
	if want := "4 cores (), commit abc: another machine has other figures."; !strings.HasPrefix(text.String(), want) {
		t.Errorf("got\n%s\nwant it to begin with %q", text.String(), want)
	}
}
