package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/stats"
)

// compared has one workload with these rates, by round.
func compared(base, head []float64) *report.Results {
	r := &report.Results{Conditions: report.Conditions{Rounds: len(base), Window: time.Second}}
	for impl, rates := range map[string][]float64{report.Base: base, report.Head: head} {
		for round, rate := range rates {
			run := report.Run{Case: report.Case{Workload: "mp4"}, Round: round, Impl: impl}
			run.Figures = stats.Figures{Acquisitions: int64(rate), Rate: rate, ClientCPU: 1e6 / max(1, rate), Requests: 3}
			r.Runs = append(r.Runs, run)
		}
	}
	return r
}

func TestComparisonJudgesTheIntervalsUpperEnd(t *testing.T) {
	for name, c := range map[string]struct {
		base, head []float64
		slow       bool
		row        string
	}{
		"as quick":          {[]float64{100, 200, 300}, []float64{100, 200, 300}, false, "| mp4 | 200 | 200 | 1.000 [1.000..1.000] | 1.000 [1.000..1.000] | (1.00) | yes |"},
		"slower":            {[]float64{100, 200, 300}, []float64{90, 180, 270}, true, "| mp4 | 200 | 180 | 0.900 [0.900..0.900] | 1.111 [1.111..1.111] | (1.00) | NO |"},
		"no clear winner":   {[]float64{100, 100, 100}, []float64{50, 100, 150}, false, ""},
		"a round failed":    {[]float64{100, 100, 100}, []float64{100, 0, 100}, false, ""},
		"one round is left": {[]float64{100, 100}, []float64{100, 0}, true, "1.000 [one round]"},
		"nothing measured":  {[]float64{0, 0}, []float64{100, 100}, true, "not measured"},
	} {
		var out strings.Builder
		slow, err := compared(c.base, c.head).Compare(&out, 0.97)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(slow, report.Case{Workload: "mp4"}); got != c.slow {
			t.Errorf("%s: got too slow = %v, want %v:\n%s", name, got, c.slow, out.String())
		}
		if !strings.Contains(out.String(), c.row) {
			t.Errorf("%s: got\n%swant in it\n%s", name, out.String(), c.row)
		}
	}
}
