// Package lanes draws who holds a lock and who waits for it, a line for each, over time, in a terminal.
package lanes

import (
	"fmt"
	"strings"
)

// A Mark is what one cell of a line shows. Of several in one cell the greatest is shown.
type Mark int

// The marks.
const (
	Idle Mark = iota
	Waits
	Away   // not connected
	Holds  //
	Unsure // holds, and is not connected: the lease has not ended yet
	Gone   // the lock is lost
)

// Width is that of a line. A terminal has 80 columns; what is in its last column may wrap.
const Width = 79

// marks are the runes and the colours of a terminal, and the words of the legend.
var marks = [...]struct {
	sign   rune
	colour string
	word   string
}{
	Idle:   {' ', "", ""},
	Waits:  {'·', "\x1b[2m", "waits"},
	Away:   {'~', "\x1b[33m", "not connected"},
	Holds:  {'█', "\x1b[32m", "holds"},
	Unsure: {'▒', "\x1b[33m", "holds, not connected"},
	Gone:   {'✗', "\x1b[31m", "LOST"},
}

// Colour is what begins a mark in a terminal with colours.
func (m Mark) Colour() string { return marks[m].colour }

// Meaning is what the legend says.
func (m Mark) Meaning() string { return marks[m].word }

// Word is a state in at most eight letters.
func (m Mark) Word() string {
	switch m {
	case Unsure:
		return "holds?"
	case Away:
		return "away"
	case Idle:
		return ""
	default:
		return marks[m].word
	}
}

// Draw prints cells, with colours or without.
func Draw(cells []Mark, colours bool) string {
	var line strings.Builder
	before := Idle
	for c, m := range cells {
		if colours && (c == 0 || m != before) {
			line.WriteString("\x1b[0m" + marks[m].colour)
		}
		before = m
		line.WriteRune(marks[m].sign)
	}
	if colours {
		line.WriteString("\x1b[0m")
	}
	return line.String()
}

// Legend explains the signs of some marks.
func Legend(colours bool, of ...Mark) string {
	var text strings.Builder
	for _, m := range of {
		sign := string(marks[m].sign)
		if colours {
			sign = marks[m].colour + sign + "\x1b[0m"
		}
		fmt.Fprintf(&text, "%s %s   ", sign, marks[m].word)
	}
	return strings.TrimSpace(text.String())
}

// Clip cuts a line that is too long.
func Clip(line string) string {
	runes := []rune(line)
	if len(runes) <= Width {
		return line
	}
	return string(runes[:Width-1]) + "…"
}
