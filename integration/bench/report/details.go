package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/stats"
)

func (t *tables) conditions() {
	c := t.Conditions
	t.prose("%s, %s, %d cores (%s) for clients and servers together, Linux %s. Another machine has other figures, and on "+
		"loopback other ratios.\n", c.Date.Format("2006-01-02"), c.commit(), c.Cores, c.CPU, c.Kernel)
	t.weather()
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(c.Versions)) {
		versions = append(versions, name+" "+c.Versions[name])
	}
	t.prose("\n%s.\n", strings.Join(versions, ", "))
	for _, i := range plan.Impls {
		if why, missing := c.Missing[i.ID]; missing {
			t.printf("\nWithout %s: %s.\n", i.Label, why)
		}
	}
}

// weather says what the runs have in common.
func (t *tables) weather() {
	if len(t.Runs) == 0 {
		return
	}
	c, noisy, worst := t.Conditions, 0, 0.0
	for _, r := range t.Runs {
		worst = max(worst, r.Figures.Foreign)
		if r.Figures.Foreign > c.Limit {
			noisy++
		}
	}
	t.prose("\n%d rounds, windows of %v; medians. Ratios are of the same round. Others used up to %.0f %% of the processors; "+
		"in %d of %d runs more than %.0f %%.\n", c.Rounds, c.Window, 100*worst, noisy, len(t.Runs), 100*c.Limit)
}

// commit says what was measured.
func (c Conditions) commit() string {
	switch {
	case c.Commit == "":
		return "commit unknown"
	case c.Changed:
		return "commit " + c.Commit + " with changes"
	default:
		return "commit " + c.Commit
	}
}

// fairness has a line for each client, since its figures belong together.
func (t *tables) fairness() {
	for _, c := range t.Cases() {
		if c.Workload != "fair16" {
			continue
		}
		t.printf("\n### Fairness, %s: %s\n\n", network(c.Delay), c.label())
		t.printf("| | wait, median, ms | wait, 99th percentile, ms | most acquisitions of a worker for each of the fewest |\n|---|---|---|---|\n")
		for _, i := range t.impls() {
			w, _ := plan.Named(c.Workload)
			if i.ID == plan.Retained {
				continue
			}
			if _, missing := t.Conditions.Missing[i.ID]; missing && i.RunsAt(w, c.Disk) {
				t.printf("| %s | not installed | | |\n", i.Label)
				continue
			}
			if text := number(millis(t.Spread(c, i.ID, WaitP50))); text != "" {
				t.printf("| %s | %s | %s | %s |\n", i.Label, text, number(millis(t.Spread(c, i.ID, WaitP99))), number(t.Spread(c, i.ID, Fairness)))
			}
		}
	}
}

func millis(s stats.Spread) stats.Spread {
	return stats.Spread{Median: s.Median / 1000, Min: s.Min / 1000, Max: s.Max / 1000}
}

// details prints everything, with the extremes.
func (t *tables) details() {
	if len(t.Runs) == 0 {
		return
	}
	t.printf("\n### Everything: median [least..most] of the rounds, times in µs\n\n")
	t.printf("| | client | acquisitions/s | × Java Curator | cycle p50 | cycle p99 | hand-over p50 | hand-over p99 | wait p50 | wait p99 | most/fewest | client CPU | server CPU |\n")
	t.printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range t.Cases() {
		for _, i := range t.impls() {
			if number(t.Spread(c, i.ID, Rate)) == "" {
				continue
			}
			t.printf("| %s, %s | %s | %s | %s |", c.label(), c.where(), i.Label, ranged(t.Spread(c, i.ID, Rate)), ranged(t.Ratio(c, i.ID, plan.Reference, Rate)))
			for _, m := range []Metric{CycleP50, CycleP99, HandOverP50, HandOverP99, WaitP50, WaitP99, Fairness, ClientCPU, ServerCPU} {
				t.printf(" %s |", ranged(t.Spread(c, i.ID, m)))
			}
			t.printf("\n")
		}
	}
}

// faults lists what must not be overlooked: overlapping holds, errors, and runs without figures.
func (t *tables) faults() {
	t.printf("\n### Faults\n\n")
	acquisitions, overlaps := int64(0), 0
	for _, r := range t.Runs {
		acquisitions += r.Figures.Acquisitions
		overlaps += r.Figures.Overlaps
		switch f := r.Figures; {
		case r.Failed != "":
			t.printf("* %s, %s, round %d failed: %s\n", r.Case, r.Impl, r.Round+1, r.Failed)
		case f.Overlaps > 0:
			t.printf("* %s, %s, round %d: **%d holds overlapped**\n", r.Case, r.Impl, r.Round+1, f.Overlaps)
		case f.Errors > 0:
			t.printf("* %s, %s, round %d: %d calls failed, the first with: %s\n", r.Case, r.Impl, r.Round+1, f.Errors, f.Error)
		}
	}
	for _, r := range t.Residue {
		if r.Failed != "" {
			t.printf("* what %s leaves could not be measured: %s\n", r.Impl, r.Failed)
		}
	}
	t.printf("\n%d acquisitions were counted; holds overlapped: %d.\n", acquisitions, overlaps)
}

// Overlaps counts the holds that overlapped, of all clients.
func (r *Results) Overlaps() int {
	n := 0
	for _, run := range r.Runs {
		n += run.Figures.Overlaps
	}
	return n
}
