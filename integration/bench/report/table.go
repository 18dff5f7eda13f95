package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/stats"
)

// Table writes everything as Markdown.
func (r *Results) Table(w io.Writer) error {
	t := &tables{Results: r}
	t.conditions()
	for _, g := range t.groups() {
		t.matrix(g, "acquisitions a second, as multiples of Java Curator's", func(c Case, impl string) string {
			return number(r.Ratio(c, impl, plan.Reference, Rate))
		})
		t.ahead(g)
		t.matrix(g, "acquisitions a second", t.median(Rate))
		t.matrix(g, "99th percentile from acquire to the end of release, µs", t.median(CycleP99))
		contended := g.only(func(w plan.Workload) bool { return w.Contended })
		t.matrix(contended, "hand-over to another worker, median, µs", t.median(HandOverP50))
		t.matrix(contended, "hand-over to another worker, 99th percentile, µs", t.median(HandOverP99))
		t.matrix(contended, "% of acquisitions by the worker that had just released", func(c Case, impl string) string {
			if same := r.Spread(c, impl, Same).Median; !math.IsNaN(same) {
				return fmt.Sprintf("%.0f", 100*same)
			}
			return ""
		})
		if g.cases[0].Disk {
			t.matrix(g, "syncs of the log for each acquisition, at ZooKeeper", t.median(Syncs))
		}
		if g.cases[0].Delay == 0 && !g.cases[0].Disk {
			t.matrix(g, "requests for each acquisition, at ZooKeeper", t.median(Requests))
			t.matrix(g, "watch events for each acquisition, at ZooKeeper", t.median(Events))
			t.matrix(g, "processor time of clients for each acquisition, µs", t.median(ClientCPU))
			t.matrix(g, "processor time of servers for each acquisition, µs", t.median(ServerCPU))
		}
	}
	t.fairness()
	t.safety()
	t.retained()
	t.details()
	t.faults()
	_, err := io.WriteString(w, t.String())
	return err
}

type tables struct {
	*Results
	strings.Builder
}

func (t *tables) printf(format string, args ...any) { fmt.Fprintf(&t.Builder, format, args...) }

// prose writes lines of at most 120 columns.
func (t *tables) prose(format string, args ...any) {
	const columns = 120
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		width := 0
		for i, word := range strings.Fields(line) {
			n := utf8.RuneCountInString(word)
			switch {
			case i == 0:
			case width+1+n > columns:
				t.printf("\n")
				width = 0
			default:
				t.printf(" ")
				width++
			}
			t.printf("%s", word)
			width += n
		}
		t.printf("\n")
	}
}

func (t *tables) median(m Metric) func(Case, string) string {
	return func(c Case, impl string) string { return number(t.Spread(c, impl, m)) }
}

// A group is cases that stand side by side in tables.
type group struct {
	name  string
	cases []Case
}

// groups are the cases of one delay, one kind of storage, and locks that most clients or that few have.
func (t *tables) groups() []group {
	var groups []group
	for _, c := range t.Cases() {
		if c.retention() {
			continue
		}
		name := c.group()
		at := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
		if at < 0 {
			at, groups = len(groups), append(groups, group{name: name})
		}
		groups[at].cases = append(groups[at].cases, c)
	}
	return groups
}

func (c Case) group() string {
	if c.mutex() {
		return "Mutexes, " + c.where()
	}
	return "Other locks, " + c.where()
}

// mutex reports whether the lock is one that most clients have.
func (c Case) mutex() bool {
	w, _ := plan.Named(c.Workload)
	return w.Lock == job.Mutex
}

func (g group) only(wanted func(plan.Workload) bool) group {
	g.cases = slices.DeleteFunc(slices.Clone(g.cases), func(c Case) bool {
		w, _ := plan.Named(c.Workload)
		return !wanted(w)
	})
	return g
}

func network(delay time.Duration) string {
	if delay == 0 {
		return "loopback"
	}
	return fmt.Sprintf("%v away", delay)
}

// where says what is between clients and server, and what is below it.
func (c Case) where() string {
	if c.Disk {
		return network(c.Delay) + ", disk"
	}
	return network(c.Delay)
}

// impls are the clients that were measured, and those that should have been.
func (t *tables) impls() []plan.Impl {
	return slices.DeleteFunc(slices.Clone(plan.Impls), func(i plan.Impl) bool {
		_, missing := t.Conditions.Missing[i.ID]
		return !missing && !slices.ContainsFunc(t.Runs, func(r Run) bool { return r.Impl == i.ID }) &&
			!slices.ContainsFunc(t.Residue, func(r Residue) bool { return r.Impl == i.ID })
	})
}

// matrix writes a table with a line for each client and a column for each case; nothing if no cell has anything.
func (t *tables) matrix(g group, what string, cell func(c Case, impl string) string) {
	var lines strings.Builder
	filled := false
	for _, i := range t.impls() {
		if i.ID == plan.Retained { // beside locks that others wait for it would be no comparison: it has its own table
			continue
		}
		_, missing := t.Conditions.Missing[i.ID]
		line, wanted := "", false
		for _, c := range g.cases {
			text := cell(c, i.ID)
			filled = filled || text != ""
			w, _ := plan.Named(c.Workload)
			if text == "" && missing && i.RunsAt(w, c.Disk) {
				text = "not installed"
			}
			wanted = wanted || text != ""
			line += " " + text + " |"
		}
		if wanted {
			fmt.Fprintf(&lines, "| %s |%s\n", i.Label, line)
		}
	}
	if !filled {
		return
	}
	t.printf("\n### %s: %s\n\n| |", g.name, what)
	for _, c := range g.cases {
		t.printf(" %s |", c.label())
	}
	t.printf("\n|---|%s\n%s", strings.Repeat("---|", len(g.cases)), lines.String())
}

// label names the workload.
func (c Case) label() string {
	if w, ok := plan.Named(c.Workload); ok {
		return w.Label
	}
	return c.Workload
}

func (c Case) String() string {
	text := c.Workload
	if c.Delay > 0 {
		text += ", " + c.Delay.String()
	}
	if c.Disk {
		text += ", disk"
	}
	return text
}

func number(s stats.Spread) string { return digits(s.Median) }

// digits writes a number with three digits that count.
func digits(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v >= 99.5:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.95:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

func times(s stats.Spread) string {
	if math.IsNaN(s.Median) {
		return ""
	}
	return "(" + digits(s.Median) + ")"
}

// ranged writes the median with the extremes.
func ranged(s stats.Spread) string {
	if math.IsNaN(s.Median) {
		return ""
	}
	return fmt.Sprintf("%s [%s..%s]", digits(s.Median), digits(s.Min), digits(s.Max))
}
