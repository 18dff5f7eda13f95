package plot

import (
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
)

// Series are the points of one line. Points that are not finite are missing, and on a logarithmic axis those that are
// not positive, too.
type Series struct {
	Name string
	X, Y []float64
}

// Lines draws a point for each value, and lines between them. A linear axis of values begins at 0.
func Lines(w io.Writer, title, xLabel, yLabel string, logX, logY bool, series ...Series) error {
	p := newPage(title, xLabel, yLabel)
	for i, s := range series {
		if len(s.X) != len(s.Y) {
			return fmt.Errorf("plot: %q: %s has %d X and %d Y", title, s.Name, len(s.X), len(s.Y))
		}
		points := s.points(logX, logY)
		if len(points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return fmt.Errorf("plot: %q: %s: %w", title, s.Name, err)
		}
		line.Color, line.Width = colorOf(i), 1.5
		dots.Color, dots.Radius, dots.Shape = colorOf(i), 3.5, plotutil.DefaultGlyphShapes[i%len(plotutil.DefaultGlyphShapes)]
		p.Add(line, dots)
		p.legend.add(s.Name, line, dots)
	}
	if len(p.legend) == 0 {
		return fmt.Errorf("plot: %q: %w", title, errNoPoints)
	}
	setScale(&p.X, logX)
	setScale(&p.Y, logY)
	if !logY {
		p.fromZero()
	}
	return p.write(w)
}

var errNoPoints = errors.New("nothing to draw")

func (s Series) points(logX, logY bool) plotter.XYs {
	drawn := func(v float64, log bool) bool {
		return finite(v) && (!log || v > 0)
	}
	var points plotter.XYs
	for i, x := range s.X {
		if drawn(x, logX) && drawn(s.Y[i], logY) {
			points = append(points, plotter.XY{X: x, Y: s.Y[i]})
		}
	}
	return points
}

func setScale(axis *plot.Axis, log bool) {
	if !log {
		return
	}
	axis.Scale = plot.LogScale{}
	axis.Tick.Marker = logarithmic
	axis.Min, axis.Max = logarithmicRange(axis.Min, axis.Max)
	if axis.Min == axis.Max { // a single point
		axis.Min, axis.Max = axis.Min/10, axis.Max*10
	}
}
