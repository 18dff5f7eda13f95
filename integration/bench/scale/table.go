package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A number is a figure of a table; NaN stands for one that was not taken.
type number float64

var missing = number(math.NaN())

// MarshalJSON writes null for a figure that was not taken, for which JSON has no number.
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// String is the figure with as many digits as it deserves.
func (n number) String() string {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return "–"
	case v == math.Trunc(v) || math.Abs(v) >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// A table is what a series has found. Its first column is what grows.
type table struct {
	Name    string     `json:"name"`
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]number `json:"rows"`
}

func (t *table) add(figures ...number) {
	if len(figures) != len(t.Columns) {
		panic(fmt.Sprintf("scale: table %s has %d columns, not %d", t.Name, len(t.Columns), len(figures)))
	}
	t.Rows = append(t.Rows, figures)
}

// column returns the figures of a column for a plot.
func (t *table) column(name string) []float64 {
	var values []float64
	for i, column := range t.Columns {
		if column != name {
			continue
		}
		for _, row := range t.Rows {
			values = append(values, float64(row[i]))
		}
	}
	return values
}

// markdown writes the table as people read it.
func (t *table) markdown(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "\n### %s\n\n| %s |\n|%s\n", t.Title, strings.Join(t.Columns, " | "), strings.Repeat("---:|", len(t.Columns)))
	for _, row := range t.Rows {
		for _, figure := range row {
			fmt.Fprintf(&text, "| %v ", figure)
		}
		text.WriteString("|\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}
