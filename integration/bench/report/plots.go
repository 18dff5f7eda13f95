package report

import (
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/plot"
	"github.com/gocurator/curator/integration/bench/stats"
)

// Plots returns what there is to draw, by name.
func (r *Results) Plots() iter.Seq2[string, func(io.Writer) error] {
	return func(yield func(string, func(io.Writer) error) bool) {
		for _, c := range r.Cases() {
			if c.Disk || c.retention() || r.first(c.Delay) != c {
				continue // once for each delay
			}
			suffix := "-" + c.Delay.String()
			times := func(c Case, impl string) stats.Spread { return r.Ratio(c, impl, plan.Reference, Rate) }
			title := "acquisitions a second, as multiples of Java Curator's, " + network(c.Delay)
			ratio := r.bars(c.Delay, "Mutexes: "+title, "× Java Curator", Case.mutex, times)
			others := r.bars(c.Delay, "Other locks: "+title, "× Java Curator", func(c Case) bool { return !c.mutex() }, times)
			handOver := r.bars(c.Delay, "Hand-over to another worker, median, "+network(c.Delay), "µs",
				func(c Case) bool { w, _ := plan.Named(c.Workload); return w.Contended },
				func(c Case, impl string) stats.Spread { return r.Spread(c, impl, HandOverP50) })
			wait := r.bars(c.Delay, "Wait, 99th percentile: 16 workers, held for 1 ms, "+network(c.Delay), "ms",
				func(c Case) bool { return c.Workload == "fair16" },
				func(c Case, impl string) stats.Spread { return millis(r.Spread(c, impl, WaitP99)) })
			for _, p := range []struct {
				name string
				draw func(io.Writer) error
			}{{"ratio", ratio}, {"ratio-others", others}, {"hand-over", handOver}, {"wait", wait}} {
				if p.draw != nil && !yield(p.name+suffix, p.draw) {
					return
				}
			}
		}
	}
}

func (r *Results) first(delay time.Duration) Case {
	cases := r.Cases()
	return cases[slices.IndexFunc(cases, func(c Case) bool { return c.Delay == delay && !c.Disk && !c.retention() })]
}

// bars draws a group for each case of a delay, with a bar for each client that has a figure in any of them; nil if none
// has.
func (r *Results) bars(delay time.Duration, title, unit string, wanted func(Case) bool, figure func(Case, string) stats.Spread) func(io.Writer) error {
	var cases []Case
	var names []string
	for _, c := range r.Cases() {
		if c.Delay == delay && !c.Disk && !c.retention() && wanted(c) {
			cases, names = append(cases, c), append(names, strings.ReplaceAll(c.label(), ", ", ",\n"))
		}
	}
	var bars []plot.Bars
	for _, i := range plan.Impls {
		if i.ID == plan.Retained { // beside them all others would be too small to see
			continue
		}
		b := plot.Bars{Name: i.Label}
		for _, c := range cases {
			s := figure(c, i.ID)
			b.Values, b.Low, b.High = append(b.Values, s.Median), append(b.Low, s.Min), append(b.High, s.Max)
		}
		if slices.ContainsFunc(b.Values, func(v float64) bool { return !math.IsNaN(v) }) {
			bars = append(bars, b)
		}
	}
	if len(bars) == 0 {
		return nil
	}
	return func(w io.Writer) error { return plot.Grouped(w, title, unit, names, bars...) }
}
