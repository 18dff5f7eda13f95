package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/gocurator/curator/integration/bench/plot"
)

var nan = math.NaN()

// texts parses an SVG and returns what is written in it.
func texts(t *testing.T, svg *bytes.Buffer) string {
	t.Helper()
	var all strings.Builder
	decoder := xml.NewDecoder(svg)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			all.Write(text)
			all.WriteByte('\n')
		}
	}
}

func expect(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is not written in the figure", word)
		}
	}
}

func TestLines(t *testing.T) {
	for _, scale := range []struct{ x, y bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		var svg bytes.Buffer
		err := plot.Lines(&svg, "Time & size", "waiters", "µs", scale.x, scale.y,
			plot.Series{Name: "before", X: []float64{0, 1, 10, 1000, 10000}, Y: []float64{0, 20, nan, 300, 2500}},
			plot.Series{Name: "after", X: []float64{1, 10, 10000}, Y: []float64{10, 10, 11}},
			plot.Series{Name: "missing", X: []float64{1}, Y: []float64{nan}})
		if err != nil {
			t.Fatal(err)
		}
		text := texts(t, &svg)
		expect(t, text, "Time & size", "waiters", "µs", "before", "after", "10,000")
		if strings.Contains(text, "missing") {
			t.Error("a series without points is in the legend")
		}
	}
}

func TestLinesOfOnePoint(t *testing.T) {
	for _, value := range []float64{0, 1, 7} {
		for _, log := range []bool{false, true} {
			err := plot.Lines(io.Discard, "One", "x", "y", log, log, plot.Series{Name: "a", X: []float64{value}, Y: []float64{value}})
			if (err != nil) != (log && value == 0) {
				t.Errorf("%v, logarithmic %v: %v", value, log, err)
			}
		}
	}
}

func TestLinesRefuse(t *testing.T) {
	if plot.Lines(io.Discard, "None", "x", "y", false, false) == nil {
		t.Error("a figure of nothing was drawn")
	}
	if plot.Lines(io.Discard, "Odd", "x", "y", false, false, plot.Series{X: []float64{1, 2}, Y: []float64{1}}) == nil {
		t.Error("a series of unequal columns was drawn")
	}
}

func TestGrouped(t *testing.T) {
	var svg bytes.Buffer
	err := plot.Grouped(&svg, "Cycles", "cycles/s", []string{"alone", "two\nclients"},
		plot.Bars{Name: "this library", Values: []float64{12000, 7}, Low: []float64{11000, 6}, High: []float64{12500, nan}},
		plot.Bars{Name: "another", Values: []float64{nan, 8000}})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, texts(t, &svg), "Cycles", "cycles/s", "alone", "two", "clients", "this library", "another", "12,000")
}

func TestGroupedRefuses(t *testing.T) {
	one := []float64{1}
	for name, bars := range map[string]plot.Bars{
		"too few values":   {Values: one},
		"half an error":    {Values: []float64{1, 2}, Low: []float64{1, 2}},
		"nothing but gaps": {Values: []float64{nan, nan}},
	} {
		if plot.Grouped(io.Discard, name, "y", []string{"a", "b"}, bars) == nil {
			t.Errorf("%s: drawn all the same", name)
		}
	}
}
