package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Bars are what one contestant has in each group; NaN is missing. Low and High, which may be nil, are where the error
// bars begin and end; with a NaN there is none.
type Bars struct {
	Name              string
	Values, Low, High []float64
}

// Grouped draws bars side by side in groups, from 0. A long name of a group may have line breaks.
func Grouped(w io.Writer, title, yLabel string, groups []string, bars ...Bars) error {
	p := newPage(title, "", yLabel)
	drawn := 0
	for i, b := range bars {
		if err := b.check(len(groups)); err != nil {
			return fmt.Errorf("plot: %q: %w", title, err)
		}
		columns := b.columns(i, len(bars))
		drawn += len(columns.Bins)
		p.Add(columns, b.errorBars(i, len(bars)))
		p.legend.add(b.Name, columns)
	}
	if drawn == 0 {
		return fmt.Errorf("plot: %q: %w", title, errNoPoints)
	}
	p.NominalX(groups...)
	p.X.Tick.Label.Font = sans(min(10.5, 96/vg.Length(len(groups)))) // names stand side by side
	p.X.Min, p.X.Max = -0.5, float64(len(groups))-0.5
	p.X.Padding = 0
	p.fromZero()
	return p.write(w)
}

func (b Bars) check(groups int) error {
	for _, values := range [][]float64{b.Values, b.Low, b.High} {
		if len(values) != groups && (values != nil || groups == 0) {
			return fmt.Errorf("%s has %d values for %d groups", b.Name, len(values), groups)
		}
	}
	if len(b.Low) != len(b.High) {
		return fmt.Errorf("%s has error bars with one end", b.Name)
	}
	return nil
}

// slot is where the bar of one of n contestants stands in a group.
func slot(group, i, n int) (from, to float64) {
	const share = 0.8 // the bars' part of the group's width; the rest keeps groups apart
	left := float64(group) - share/2
	return left + share*float64(i)/float64(n), left + share*float64(i+1)/float64(n)
}

// columns are bins of a histogram, since the library's bars have widths of paper and not of data.
func (b Bars) columns(i, n int) *plotter.Histogram {
	h := &plotter.Histogram{FillColor: colorOf(i)}
	h.Color, h.Width = color.White, 1
	for group, value := range b.Values {
		if finite(value) {
			from, to := slot(group, i, n)
			h.Bins = append(h.Bins, plotter.HistogramBin{Min: from, Max: to, Weight: value})
		}
	}
	return h
}

func (b Bars) errorBars(i, n int) *plotter.YErrorBars {
	bars := &plotter.YErrorBars{LineStyle: plotter.DefaultLineStyle, CapWidth: plotter.DefaultCapWidth}
	bars.Width = 1
	for group := range b.Low {
		low, value, high := b.Low[group], b.Values[group], b.High[group]
		if !finite(low) || !finite(value) || !finite(high) {
			continue
		}
		from, to := slot(group, i, n)
		bars.XYs = append(bars.XYs, plotter.XY{X: (from + to) / 2, Y: value})
		bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{value - low, high - value})
	}
	return bars
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
