package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	wide     = 120 // columns of a drawing
	wideLane = 8   // columns of the widest lane
	allLanes = 72  // columns of all lanes together: the rest is for what happens
)

// draw draws a row for each event, and a column for each client and for the servers. Lanes that differ only in digits
// at their end share a column, and the row shows the digits: A0 and A1 are in column A. A fault has a cross.
//
// Lanes for which there is no room share the last column, and the text begins with their names. What is too long ends
// in "…".
func draw(events []event) string {
	columns, rest := layOut(events)
	var drawing strings.Builder
	row := func(at string, cell func(c column) string, text string) {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = fill(cut(cell(c), c.width), c.width)
		}
		line := fmt.Sprintf("%12s  %s  %s", at, strings.Join(cells, " "), text)
		drawing.WriteString(strings.TrimRight(cut(line, wide), " ") + "\n")
	}
	row("", func(c column) string { return c.name }, "")
	for _, e := range events {
		name, label := split(e.lane)
		text := strings.Join(strings.Fields(e.text), " ")
		if slices.Contains(rest, name) {
			text = e.lane + " " + text
			name, label = others, ""
		}
		if e.fault {
			label = "✗" + label
		}
		if label == "" {
			label = "•"
		}
		row(clock(e.at), func(c column) string {
			if c.name == name {
				return label
			}
			return "·"
		}, text)
	}
	return drawing.String()
}

// A column is the place of a lane.
type column struct {
	name  string
	width int
}

const others = "others"

// layOut returns the columns, and the lanes that share the last one.
func layOut(events []event) (columns []column, rest []string) {
	widths := map[string]int{}
	for _, e := range events {
		name, label := split(e.lane)
		need := max(utf8.RuneCountInString(name), utf8.RuneCountInString(label)+1)
		widths[name] = min(max(widths[name], need, 3), wideLane)
	}
	var names []string
	for name := range widths {
		names = append(names, name)
	}
	slices.Sort(names)
	used := 0
	for i, name := range names {
		if used+1+widths[name] > allLanes-1-len(others) && i < len(names)-1 {
			return append(columns, column{others, len(others)}), names[i:]
		}
		used += 1 + widths[name]
		columns = append(columns, column{name, widths[name]})
	}
	return columns, nil
}

// split returns the name of a lane's column, and the digits behind it.
func split(lane string) (name, label string) {
	name = strings.TrimRight(lane, "0123456789")
	return name, lane[len(name):]
}

// clock is minutes, seconds and microseconds.
func clock(at time.Duration) string {
	us := at.Microseconds()
	return fmt.Sprintf("%02d:%02d.%06d", us/60e6, us/1e6%60, us%1e6)
}

func fill(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// cut shortens a text to a width.
func cut(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}
