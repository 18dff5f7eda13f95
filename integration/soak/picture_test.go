//go:build linux

package soak_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// draw is a picture of each figure over the time, from zero, one below the other.
func (h *history) draw() string {
	const width, height, left, gap = 800, 70, 60, 34
	curves := h.curves()
	last := h.samples[len(h.samples)-1].at
	var svg strings.Builder
	total := len(curves)*(height+gap) + gap
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, total)
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, total)
	for i, c := range curves {
		bottom := (i + 1) * (height + gap)
		most := max(slices.Max(c.values), 1)
		x := func(at time.Duration) float64 { return left + (width-left-10)*float64(at)/float64(last) }
		y := func(value float64) float64 { return float64(bottom) - (height-6)*value/most }
		fmt.Fprintf(&svg, `<text x="%d" y="%d">%s</text>`+"\n", left, bottom-height-4, c.name)
		for _, value := range []float64{0, most} {
			fmt.Fprintf(&svg, `<text x="%d" y="%.1f" text-anchor="end" fill="#555">%.4g</text>`+"\n", left-6, y(value)+4, value)
			fmt.Fprintf(&svg, `<path d="M%d %.1fH%d" stroke="#ddd"/>`+"\n", left, y(value), width-10)
		}
		fmt.Fprint(&svg, `<path fill="none" stroke="#0072B2" stroke-width="1.5" d="`)
		for j, s := range h.samples {
			fmt.Fprintf(&svg, "%c%.1f %.1f", "ML"[min(j, 1)], x(s.at), y(c.values[j]))
		}
		fmt.Fprintln(&svg, `"/>`)
	}
	fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="end" fill="#555">%v</text>`+"\n</svg>\n", width-10, total-10, last.Round(time.Second))
	return svg.String()
}

func TestPictureHasEachFigure(t *testing.T) {
	h := history{samples: []sample{{at: time.Second, memory: memory{heap: 2}}, {at: time.Minute, memory: memory{heap: 4}}}}
	svg := h.draw()
	for elements := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := elements.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("got %v, want XML:\n%s", err, svg)
		}
	}
	for _, c := range h.curves() {
		if !strings.Contains(svg, ">"+c.name+"<") {
			t.Errorf("got no %q in\n%s", c.name, svg)
		}
	}
}
