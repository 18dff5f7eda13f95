// Package plot draws the figures of the benchmarks as SVG: as wide as a README, and on a white ground, so that they can
// be read on a dark page as well.
package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A figure of 600 by 375 points is 800 by 500 pixels.
const (
	width, height = vg.Length(600), vg.Length(375)
	margin        = vg.Length(12)
)

// colors are distinct for every reader who sees any (Okabe and Ito); yellow is left out, since the ground is white. The
// last two are for figures with many series, whose order identifies them as well.
var colors = []color.Color{
	color.RGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, // blue
	color.RGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, // vermillion
	color.RGBA{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, // green
	color.RGBA{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}, // purple
	color.RGBA{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, // orange
	color.RGBA{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}, // sky
	color.RGBA{R: 0x4D, G: 0x4D, B: 0x4D, A: 0xFF}, // grey
	color.RGBA{R: 0xB3, G: 0xB3, B: 0xB3, A: 0xFF}, // light grey
	color.RGBA{R: 0x8B, G: 0x45, B: 0x13, A: 0xFF}, // brown
}

func colorOf(i int) color.Color { return colors[i%len(colors)] }

// sans is the library's own sans serif in a size.
func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// A page is a plot with its legend.
type page struct {
	*plot.Plot

	legend legend
}

func newPage(title, xLabel, yLabel string) *page {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, xLabel, yLabel
	p.Title.TextStyle.Font = sans(14)
	p.Title.Padding = 10
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = sans(12)
		axis.Label.Padding = 6
		axis.Tick.Label.Font = sans(10.5)
		axis.Tick.Marker = linear
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal.Color = color.Gray{Y: 0xDD}
	p.Add(grid)
	return &page{Plot: p}
}

// fromZero begins the axis of values at 0, and leaves some room above the greatest.
func (p *page) fromZero() {
	const room = 1.04
	p.Y.Min, p.Y.Max = min(p.Y.Min, 0), p.Y.Max*room
	if p.Y.Max <= p.Y.Min {
		p.Y.Max = p.Y.Min + 1
	}
}

// write draws the page: the plot above, the legend below, so that it covers nothing.
func (p *page) write(w io.Writer) error {
	canvas := vgsvg.New(width, height)
	ground := draw.New(canvas)
	ground.SetColor(color.White)
	ground.Fill(ground.Path())

	inside := draw.Crop(ground, margin, -margin, margin, -margin)
	below := p.legend.draw(inside)
	p.Draw(draw.Crop(inside, 0, 0, below, 0))

	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, err := w.Write(withFallback(svg.Bytes()))
	return err
}

// withFallback names other fonts of the same measure: few readers have the one with which the text was laid out.
func withFallback(svg []byte) []byte {
	const family = "font-family:Liberation Sans"
	return bytes.ReplaceAll(svg, []byte(family), []byte(family+",Arial,Helvetica,sans-serif"))
}
