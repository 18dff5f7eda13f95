package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/stats"
)

// What the README of the library shows: one plot and five rows.
var (
	summaryRows = []struct{ workload, label string }{
		{"uncontended", "one worker"},
		{"own16", "16 workers, own locks, one client"},
		{"one16", "16 workers, one lock, one client"},
		{"mp4", "4 processes, one lock"},
		{"fair16", "16 workers that hold for 1 ms, 99 % wait less than (ms, no ratio)"},
	}
	summaryColumns = []struct{ impl, label string }{
		{plan.Ours, "here"},
		{"zk.Lock", "zk.Lock"},
		{"kazoo", "kazoo"},
		{"etcd", "etcd"},
		{"nats", "NATS"},
		{"postgres", "Postgres"},
		{"redsync", "redsync"},
	}
)

// Summary writes what the README of the library shows, as Markdown: the plot for 2 ms, and five rows, each with its
// figures on loopback and 2 ms away. What was not measured is a dash.
func (r *Results) Summary(w io.Writer) error {
	t := &tables{Results: r}
	t.printf("![acquisitions a second with 2 ms to the server each way](integration/bench/figures/ratio-2ms.svg)\n\n")
	t.printf("| × Java Curator: loopback, 2 ms each way |")
	for _, column := range summaryColumns {
		t.printf(" %s |", column.label)
	}
	t.printf("\n|---|%s\n", strings.Repeat("---|", len(summaryColumns)))
	for _, row := range summaryRows {
		t.printf("| %s |", row.label)
		for _, column := range summaryColumns {
			near, far := r.brief(Case{Workload: row.workload}, column.impl), r.brief(Case{Workload: row.workload, Delay: away}, column.impl)
			t.printf(" %s, %s |", near, far)
		}
		t.printf("\n")
	}
	c := r.Conditions
	t.prose("\nMedians of %d rounds on %d cores (%s) for clients and servers together, %s. Another machine has other figures, and "+
		"on loopback other ratios.\n", c.Rounds, c.Cores, c.CPU, c.commit())
	_, err := io.WriteString(w, t.String())
	return err
}

// brief is a figure with two digits that count: of fair16 the wait, otherwise the ratio to Java Curator's acquisitions.
func (r *Results) brief(c Case, impl string) string {
	var s stats.Spread
	if c.Workload == "fair16" {
		s = millis(r.Spread(c, impl, WaitP99))
	} else {
		s = r.Ratio(c, impl, plan.Reference, Rate)
	}
	switch v := s.Median; {
	case math.IsNaN(v):
		return "–"
	case v >= 9.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 0.095:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
