package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/stats"
)

// Table writes everything as Markdown.
func (r *Results) Table(w io.Writer) error {
	t := &tables{Results: r}
	t.conditions()
	for _, group := range t.groups() {
		t.matrix("Acquisitions a second, "+group.name+" (× Java Curator in the same round)", group.cases, func(c Case, impl string) string {
			return join(" ", number(r.Spread(c, impl, Rate)), times(r.Ratio(c, impl, plan.Reference, Rate)))
		})
	}
	t.matrix("Hand-over to another worker, µs: p50 / p99 (share taken again by the same worker)", t.exclusive(), t.handOver)
	t.fairness()
	t.retained()
	t.matrix("Requests + watch events at the server for each acquisition", t.quick(), func(c Case, impl string) string {
		return join(" + ", number(r.Spread(c, impl, Requests)), number(r.Spread(c, impl, Events)))
	})
	t.matrix("Processor time for each acquisition, µs: client / server", t.quick(), func(c Case, impl string) string {
		return join(" / ", number(r.Spread(c, impl, ClientCPU)), number(r.Spread(c, impl, ServerCPU)))
	})
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

type group struct {
	name  string
	cases []Case
}

// groups are the cases of one delay and one kind of storage.
func (t *tables) groups() []group {
	var groups []group
	for _, c := range t.Cases() {
		if c.retention() {
			continue
		}
		name := network(c.Delay)
		if c.Disk {
			name += ", server on disk"
		}
		if len(groups) == 0 || groups[len(groups)-1].name != name {
			groups = append(groups, group{name: name})
		}
		last := &groups[len(groups)-1]
		last.cases = append(last.cases, c)
	}
	return groups
}

func network(delay time.Duration) string {
	if delay == 0 {
		return "loopback"
	}
	return fmt.Sprintf("%v away", delay)
}

// exclusive are the cases in which a lock goes from worker to worker.
func (t *tables) exclusive() []Case {
	return slices.DeleteFunc(t.Cases(), func(c Case) bool {
		w, _ := plan.Named(c.Workload)
		return !w.Contended || c.Disk || c.retention()
	})
}

// quick are the cases without a delay.
func (t *tables) quick() []Case {
	return slices.DeleteFunc(t.Cases(), func(c Case) bool { return c.Delay > 0 || c.Disk || c.retention() })
}

func (t *tables) handOver(c Case, impl string) string {
	text := join(" / ", number(t.Spread(c, impl, HandOverP50)), number(t.Spread(c, impl, HandOverP99)))
	if same := t.Spread(c, impl, Same).Median; same >= 0.005 {
		text += fmt.Sprintf(" (%.0f %%)", 100*same)
	}
	return text
}

// impls are the clients that were measured, and those that should have been.
func (t *tables) impls() []plan.Impl {
	return slices.DeleteFunc(slices.Clone(plan.Impls), func(i plan.Impl) bool {
		_, missing := t.Conditions.Missing[i.ID]
		return !missing && !slices.ContainsFunc(t.Runs, func(r Run) bool { return r.Impl == i.ID })
	})
}

// matrix writes a table with a line for each case and a column for each client.
func (t *tables) matrix(title string, cases []Case, cell func(c Case, impl string) string) {
	if len(cases) == 0 {
		return
	}
	t.printf("\n### %s\n\n| |", title)
	impls := t.impls()
	for _, i := range impls {
		t.printf(" %s |", i.Label)
	}
	t.printf("\n|---|%s\n", strings.Repeat("---|", len(impls)))
	for _, c := range cases {
		t.printf("| %s |", c)
		w, _ := plan.Named(c.Workload)
		for _, i := range impls {
			text := cell(c, i.ID)
			if _, missing := t.Conditions.Missing[i.ID]; missing && i.Runs(w) {
				text = "not installed"
			}
			t.printf(" %s |", text)
		}
		t.printf("\n")
	}
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

// join joins two texts of which either may be missing.
func join(separator, a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator + b
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
