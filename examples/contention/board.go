package main

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/examples/internal/lanes"
	"github.com/gocurator/curator/framework"
)

// The marks of a worker's line.
const (
	idle   = lanes.Idle
	waits  = lanes.Waits
	away   = lanes.Away
	holds  = lanes.Holds
	unsure = lanes.Unsure
	gone   = lanes.Gone
)

const (
	margin   = 14 // columns for the worker's number and state
	cells    = lanes.Width - margin
	mostRows = 14 // so that all of it fits 24 lines
	messages = 3
)

// A board is the picture of a run: a line for each worker, from the beginning on the left to now on the right. When a
// line is full, a cell stands for twice the time.
type board struct {
	title  string
	begun  time.Time
	cell   time.Duration
	now    int // the cell of the present
	end    time.Time
	lanes  []lane
	status string
	news   []string
	exact  bool // keep spans, for a picture
}

// A lane is what is known of one worker.
type lane struct {
	role   lanes.Mark // idle, waits, holds or gone
	away   bool
	cells  [cells]lanes.Mark
	filled int
	spans  []span
}

// A span is a mark and when it began. It ends with the next one's beginning.
type span struct {
	mark lanes.Mark
	from time.Time
}

func newBoard(title string, begun time.Time, workers int) *board {
	return &board{title: title, begun: begun, end: begun, cell: 50 * time.Millisecond, lanes: make([]lane, workers)}
}

// mark is what the worker is now.
func (l *lane) mark() lanes.Mark {
	switch {
	case l.away && l.role == holds:
		return unsure
	case l.away && l.role != gone:
		return away
	default:
		return l.role
	}
}

// show takes what an event says.
func (b *board) show(e event) {
	b.advance(e.at)
	if e.Worker > 0 {
		l := &b.lanes[e.Worker-1]
		switch e.Event {
		case waiting:
			l.role = waits
		case acquired:
			l.role = holds
		case released:
			l.role = idle
		case lost:
			l.role = gone
		case state:
			l.away = e.state != framework.StateConnected && e.state != framework.StateReconnected
		}
		l.cells[b.now] = max(l.cells[b.now], l.mark())
		if n := len(l.spans); b.exact && (n == 0 || l.spans[n-1].mark != l.mark()) {
			l.spans = append(l.spans, span{l.mark(), e.at})
		}
	}
	if e.Event == servers {
		b.status = ""
		if e.State == "gone" {
			b.status = e.text
		}
	}
	if e.Event != waiting && e.Event != acquired && e.Event != released {
		b.news = append(b.news, fmt.Sprintf("%7.3f %s", e.at.Sub(b.begun).Seconds(), e.sentence()))
		b.news = b.news[max(0, len(b.news)-messages):]
	}
}

// advance fills the lines up to a time.
func (b *board) advance(at time.Time) {
	if at.Before(b.end) {
		at = b.end
	}
	b.end = at
	for at.Sub(b.begun) >= cells*b.cell {
		b.halve()
	}
	b.now = int(at.Sub(b.begun) / b.cell)
	for i := range b.lanes {
		l := &b.lanes[i]
		for l.filled < b.now {
			l.filled++
			l.cells[l.filled] = l.mark()
		}
	}
}

// halve puts two cells into one.
func (b *board) halve() {
	b.cell *= 2
	for i := range b.lanes {
		l := &b.lanes[i]
		for c := range cells / 2 {
			l.cells[c] = max(l.cells[2*c], l.cells[2*c+1])
		}
		clear(l.cells[cells/2:])
		l.filled /= 2
		if l.filled >= cells/2 { // an odd last cell stands alone
			l.cells[l.filled] = l.mark()
		}
	}
}

// rows are the workers that there is room for.
func (b *board) rows() []lane { return b.lanes[:min(len(b.lanes), mostRows)] }

// lines are what a terminal shows, with colours or without.
func (b *board) lines(colours bool) []string {
	lines := []string{lanes.Clip(b.title), ""}
	for i, l := range b.rows() {
		lines = append(lines, fmt.Sprintf("%4d %-8s ", i+1, l.mark().Word())+lanes.Draw(l.cells[:b.now+1], colours))
	}
	more := ""
	if hidden := len(b.lanes) - mostRows; hidden > 0 {
		more = fmt.Sprintf("+%d workers", hidden)
	}
	now := fmt.Sprintf("%.1f s", b.end.Sub(b.begun).Seconds())
	axis := max(b.now+1, len(now)+4)
	lines = append(lines, fmt.Sprintf("%-*s0 s%*s", margin, more, axis-3, now),
		lanes.Legend(colours, waits, away, holds, unsure, gone), lanes.Clip(b.summary()))
	for i := range messages {
		line := ""
		if i < len(b.news) {
			line = b.news[i]
		}
		lines = append(lines, lanes.Clip(line))
	}
	return lines
}

// summary says who holds, and how many wait.
func (b *board) summary() string {
	if b.status != "" {
		return b.status
	}
	text, n := "", 0
	for i, l := range b.lanes {
		switch l.role {
		case holds:
			text = fmt.Sprintf("worker %d holds; ", i+1)
		case waits:
			n++
		}
	}
	return fmt.Sprintf("%s%d wait", text, n)
}
