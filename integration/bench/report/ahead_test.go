package report_test

import (
	"strings"
	"testing"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/stats"
)

func TestPageSaysWhichClientsAreFasterAndWhatTheyDoWithout(t *testing.T) {
	for name, c := range map[string]struct {
		rates map[string]float64 // beside 2000 and 8000 of this library
		want  []string
		not   string
	}{
		"none": {nil, []string{"On this machine, none of the others is faster than this library in these columns."}, "without a disk"},
		"a volatile one and another": {
			map[string]float64{"postgres": 9000, "etcd": 8001, "kazoo": 100},
			[]string{
				"Faster than this library, on this machine: etcd in 1 of 2 columns; Postgres advisory lock in 1 of 2 columns.",
				"without a disk and without consensus: Postgres advisory lock.",
			},
			"kazoo (Python) in",
		},
		"one that agrees": {map[string]float64{"etcd": 8001}, []string{"on this machine: etcd in 1 of 2 columns."}, "without a disk"},
		"a retained lock": {map[string]float64{plan.Retained: 1e6, plan.Floor: 1e6}, []string{"none of the others is faster"}, "retained in"},
	} {
		r := measured()
		for impl, rate := range c.rates {
			for round := range 2 {
				r.Runs = append(r.Runs, report.Run{
					Case: report.Case{Workload: "uncontended"}, Round: round, Impl: impl, Figures: stats.Figures{Acquisitions: 1, Rate: rate},
				})
			}
		}
		var text strings.Builder
		if err := r.Table(&text); err != nil {
			t.Fatal(err)
		}
		page := strings.ReplaceAll(text.String(), "\n", " ")
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q:\n%s", name, want, page)
			}
		}
		if strings.Contains(page, c.not) {
			t.Errorf("%s: got %q in:\n%s", name, c.not, page)
		}
	}
}
