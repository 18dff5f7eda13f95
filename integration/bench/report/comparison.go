package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gocurator/curator/integration/bench/stats"
)

// The two versions of this library that are compared, as the Impl of a Run.
const (
	Base = "base"
	Head = "head"
)

// Change returns a version's figure divided by another version's in the same round.
func (r *Results) Change(c Case, impl, base string, metric Metric) stats.Interval {
	ratios := r.of(c, impl, metric)
	for round, value := range r.of(c, base, metric) {
		ratios[round] /= value
	}
	return stats.OfRatios(ratios)
}

// Compare writes the two versions as a Markdown table, and returns the cases in which the newer one is too slow: the
// interval of its acquisitions, divided by those of the base, lies below least. A case without an interval counts as
// too slow.
func (r *Results) Compare(w io.Writer, least float64) (slow []Case, err error) {
	var b strings.Builder
	fmt.Fprintf(&b, "| %d rounds of %v | base | head | × acquisitions [95 %%] | × client CPU [95 %%] | × requests | reaches %.2f |\n|---|---|---|---|---|---|---|\n",
		r.Conditions.Rounds, r.Conditions.Window, least)
	for _, c := range r.Cases() {
		change := r.Change(c, Head, Base, Rate)
		verdict := "yes"
		if !(change.High >= least) { // also if it is NaN
			verdict = "NO"
			slow = append(slow, c)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", c, number(r.Spread(c, Base, Rate)), number(r.Spread(c, Head, Rate)),
			interval(change), interval(r.Change(c, Head, Base, ClientCPU)), times(r.Ratio(c, Head, Base, Requests)), verdict)
	}
	_, err = io.WriteString(w, b.String())
	return slow, err
}

func interval(i stats.Interval) string {
	switch {
	case math.IsNaN(i.Mean):
		return "not measured"
	case math.IsNaN(i.Low):
		return fmt.Sprintf("%.3f [one round]", i.Mean)
	default:
		return fmt.Sprintf("%.3f [%.3f..%.3f]", i.Mean, i.Low, i.High)
	}
}
