package report

import (
	"io"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/plot"
	"github.com/gocurator/curator/integration/bench/stats"
)

// Plots returns what there is to draw, by name.
func (r *Results) Plots() iter.Seq2[string, func(io.Writer) error] {
	return func(yield func(string, func(io.Writer) error) bool) {
		for _, c := range r.Cases() {
			if c.Disk || r.first(c.Delay) != c {
				continue // once for each delay
			}
			suffix := "-" + c.Delay.String()
			ratio := r.bars(c.Delay, "Acquisitions a second, as multiples of Java Curator's, "+network(c.Delay), "× Java Curator",
				func(Case) bool { return true },
				func(c Case, impl string) stats.Spread { return r.Ratio(c, impl, plan.Reference, Rate) })
			handOver := r.bars(c.Delay, "Hand-over to another worker, median, "+network(c.Delay), "µs",
				func(c Case) bool { w, _ := plan.Named(c.Workload); return w.Contended },
				func(c Case, impl string) stats.Spread { return r.Spread(c, impl, HandOverP50) })
			wait := r.bars(c.Delay, "The longest wait of 99 in 100, 16 workers in 4 processes, "+network(c.Delay), "µs",
				func(c Case) bool { return c.Workload == "fair16" },
				func(c Case, impl string) stats.Spread { return r.Spread(c, impl, WaitP99) })
			if !yield("ratio"+suffix, ratio) || !yield("hand-over"+suffix, handOver) || !yield("wait"+suffix, wait) {
				return
			}
		}
	}
}

func (r *Results) first(delay time.Duration) Case {
	cases := r.Cases()
	return cases[slices.IndexFunc(cases, func(c Case) bool { return c.Delay == delay && !c.Disk })]
}

// bars draws a group for each case of a delay, with a bar for each client that has a figure in any of them.
func (r *Results) bars(delay time.Duration, title, unit string, wanted func(Case) bool, figure func(Case, string) stats.Spread) func(io.Writer) error {
	return func(w io.Writer) error {
		var cases []Case
		var names []string
		for _, c := range r.Cases() {
			if c.Delay == delay && !c.Disk && wanted(c) {
				cases, names = append(cases, c), append(names, c.Workload)
			}
		}
		var bars []plot.Bars
		for _, i := range plan.Impls {
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
		return plot.Grouped(w, title, unit, names, bars...)
	}
}
