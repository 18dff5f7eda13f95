package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/stats"
)

// waits is the workload whose waits are shown instead of its acquisitions.
const waits = "fair16"

// What the README of the library shows: one plot and five rows.
var (
	summaryRows = []struct{ workload, label string }{
		{"uncontended", "one worker"},
		{"own16", "16 workers, own locks, one client"},
		{"one16", "16 workers, one lock, one client"},
		{"mp4", "4 processes, one lock"},
		{waits, "16 workers that hold for 1 ms, 99 % wait less than (ms, no ratio)"},
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

// Summary writes what the README of the library shows, as Markdown: the plot for 2 ms, five rows for that delay, of
// what they are the medians, and which clients are ahead on loopback. A second table has the rows on loopback. What was
// not measured is a dash.
func (r *Results) Summary(w io.Writer) error {
	t := &tables{Results: r}
	t.printf("![acquisitions a second with 2 ms to the server each way](integration/bench/figures/ratio-2ms.svg)\n\n")
	t.summary("2 ms to the server each way", away)
	c := r.Conditions
	t.prose("\nMedians of %d rounds on %d cores (%s) for clients and servers together, %s. Another machine has other figures.%s\n",
		c.Rounds, c.Cores, c.CPU, c.commit(), r.aheadOnLoopback())
	t.printf("\n")
	t.summary("loopback", 0)
	_, err := io.WriteString(w, t.String())
	return err
}

// summary writes the table for a delay.
func (t *tables) summary(place string, delay time.Duration) {
	t.printf("| × Java Curator, %s |", place)
	for _, column := range summaryColumns {
		t.printf(" %s |", column.label)
	}
	t.printf("\n|---|%s\n", strings.Repeat("---|", len(summaryColumns)))
	for _, row := range summaryRows {
		t.printf("| %s |", row.label)
		for _, column := range summaryColumns {
			t.printf(" %s |", t.brief(Case{Workload: row.workload, Delay: delay}, column.impl))
		}
		t.printf("\n")
	}
}

// aheadOnLoopback says which clients have more acquisitions than this library in rows on loopback, where a request is
// cheap: how often, at most.
func (r *Results) aheadOnLoopback() string {
	var ahead []string
	for _, column := range summaryColumns[1:] {
		most := 1.0
		for _, row := range summaryRows {
			if row.workload == waits {
				continue
			}
			if ratio := r.Ratio(Case{Workload: row.workload}, column.impl, plan.Ours, Rate).Median; ratio > most {
				most = ratio
			}
		}
		if most >= 1.05 {
			ahead = append(ahead, fmt.Sprintf("%s up to %.1f times", column.label, most))
		}
	}
	if len(ahead) == 0 {
		return ""
	}
	return " On loopback some have more acquisitions than this library: " + strings.Join(ahead, ", ") + "."
}

// brief is a figure with two digits that count: of waits the wait, otherwise the ratio to Java Curator's acquisitions.
func (r *Results) brief(c Case, impl string) string {
	var s stats.Spread
	if c.Workload == waits {
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
