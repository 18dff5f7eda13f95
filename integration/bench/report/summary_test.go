package report_test

import (
	"strings"
	"testing"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/stats"
)

func TestSummaryIsOnePlotAndFiveRowsForEachDelay(t *testing.T) {
	r := measured()
	for round := range 2 {
		for impl, rate := range map[string]float64{"etcd": 0.04, plan.Reference: 1, "nats": 12.3} {
			r.Runs = append(r.Runs, report.Run{Case: report.Case{Workload: "mp4"}, Round: round, Impl: impl, Figures: stats.Figures{
				Acquisitions: 1, Rate: rate,
			}})
		}
	}
	var text strings.Builder
	if err := r.Summary(&text); err != nil {
		t.Fatal(err)
	}
	got := text.String()
	for _, want := range []string{
		"![acquisitions a second with 2 ms to the server each way](integration/bench/figures/ratio-2ms.svg)\n\n| × Java Curator",
		"| one worker | – | – |",
		"| one worker | 3.0 | – |",
		"| 4 processes, one lock | – | – | – | 0.04 | 12 | – | – |\n",
		"(ms, no ratio) | 2.0 |",
		"on 4 cores () for clients and servers together, commit abc. Another machine has other figures",
	} {
		if !strings.Contains(strings.ReplaceAll(got, "other\nfigures", "other figures"), want) {
			t.Errorf("the summary lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "![") + strings.Count(got, "\n| "); n != 13 { // a plot, and twice a head and five rows
		t.Errorf("got %d plots and lines, want one plot, and twice one head and five rows:\n%s", n, got)
	}
}
