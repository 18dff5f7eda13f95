package caches

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gocurator/curator/integration/bench/stats"
)

// A Table is what a run prints.
type Table struct {
	Costs   []Cost
	Leases  []Phases
	Missing map[string]bool // what is not installed
	notes   []string
}

// A Cost is what caches cost.
type Cost struct {
	Size
	Figures

	Who string
}

// Phases are the phases of a disturbance, the quiet one first.
type Phases struct {
	Trial

	Where  string
	Phases []Disturbance
}

// Note adds to the conditions of the run.
func (t *Table) Note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// LeaveOut notes what is not installed.
func (t *Table) LeaveOut(name string, err error) {
	if t.Missing == nil {
		t.Missing = make(map[string]bool)
	}
	if !t.Missing[name] {
		t.Missing[name] = true
		t.Note("%s left out: %v", name, err)
	}
}

// Write prints the table.
func (t *Table) Write(out io.Writer) error {
	var lines []string
	if len(t.Costs) > 0 {
		lines = append(lines, row("caches × nodes", "client, server", "full ms", "again ms", "bytes/node", "event p50 ms",
			"p99 ms", "events", "merged"))
	}
	for _, c := range t.Costs {
		lines = append(lines, c.row())
	}
	if len(t.Leases) > 0 {
		lines = append(lines, "", row("caches × nodes", "server", "a lease while", "took ms", "reads under way",
			"lease left s", "of T", "lost", "renewals", "p50 ms", "p99 ms", "growth ms"))
	}
	for _, p := range t.Leases {
		for _, d := range p.Phases {
			lines = append(lines, p.row(d))
		}
	}
	lines = append(append(lines, ""), t.notes...)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(w, strings.Join(lines, "\n")); err != nil {
		return err
	}
	return w.Flush()
}

func (c Cost) row() string {
	memory, again := "–", "–"
	if c.Memory >= 0 {
		memory = fmt.Sprintf("%.0f", c.Memory)
	}
	if c.Again > 0 {
		again = millis(c.Again)
	}
	return row(c.Size, c.Who, millis(c.Full), again, memory, quantile(c.Events, 0.5), quantile(c.Events, 0.99),
		len(c.Events), c.Missed)
}

func (p Phases) row(d Disturbance) string {
	growth, took := "–", "–"
	if d.Phase != Quiet {
		took = millis(d.Took)
	}
	if now, before := quantileOf(d.Renewals, 0.99), quantileOf(p.Phases[0].Renewals, 0.99); d.Phase != Quiet && !math.IsNaN(now-before) {
		growth = millis(time.Duration(now - before))
	}
	return row(p.Size, p.Where, d.Phase, took, d.Reads, fmt.Sprintf("%.3f", d.Left.Seconds()),
		fmt.Sprintf("%.2f", d.Left.Seconds()/p.Timeout.Seconds()), d.Lost, len(d.Renewals),
		quantile(d.Renewals, 0.5), quantile(d.Renewals, 0.99), growth)
}

func row(cells ...any) string {
	var text []string
	for _, cell := range cells {
		text = append(text, fmt.Sprint(cell))
	}
	return strings.Join(text, "\t")
}

func quantileOf(took []time.Duration, q float64) float64 {
	var values []float64
	for _, d := range took {
		values = append(values, float64(d))
	}
	return stats.Quantile(values, q)
}

func quantile(took []time.Duration, q float64) string {
	value := quantileOf(took, q)
	if math.IsNaN(value) {
		return "–"
	}
	return millis(time.Duration(value))
}

// millis prints milliseconds with as many digits as they deserve.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if math.Abs(ms) >= 100 {
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprintf("%.2f", ms)
}
