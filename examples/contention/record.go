package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/examples/internal/lanes"
)

// A record is what all workers did.
type record struct {
	env   *demo.Env
	begun time.Time

	mu    sync.Mutex
	lanes []lane
	turns []turn
}

// A lane is what one worker did.
type lane struct {
	role  lanes.Mark // idle, waits, holds or gone
	away  bool
	marks []lanes.Mark
	from  []time.Time // when each of the marks began
}

// A turn is a hold. It lasts from the return of Acquire to the call of Release, or to the end of the lease if that is
// earlier.
type turn struct {
	worker      int
	token       int64
	from, until time.Time
}

// note prints what worker i does, and records the change.
func (r *record) note(i int, at time.Time, change func(l *lane), format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &r.lanes[i]
	change(l)
	mark := l.role
	if l.away && mark == lanes.Holds {
		mark = lanes.Unsure
	} else if l.away && mark != lanes.Gone {
		mark = lanes.Away
	}
	l.marks, l.from = append(l.marks, mark), append(l.from, at)
	r.env.Say("worker %d: %s", i+1, fmt.Sprintf(format, args...))
}

// check fails if two holds overlapped, or came out of turn: their tokens must rise.
func (r *record) check() error {
	slices.SortFunc(r.turns, func(a, b turn) int { return a.from.Compare(b.from) })
	for i := 1; i < len(r.turns); i++ {
		if a, b := r.turns[i-1], r.turns[i]; b.from.Before(a.until) {
			return fmt.Errorf("OVERLAP of %v: workers %d and %d", a.until.Sub(b.from), a.worker, b.worker)
		} else if b.token <= a.token {
			return fmt.Errorf("OUT OF TURN: worker %d before worker %d", a.worker, b.worker)
		}
	}
	return nil
}

// paint is the colours of the marks.
var paint = [...]string{
	lanes.Waits: "#718096", lanes.Away: "#d69e2e", lanes.Holds: "#38a169", lanes.Unsure: "#ecc94b", lanes.Gone: "#e53e3e",
}

// draw writes a picture with a line for each worker to a file.
func (r *record) draw(file string) error {
	const left, width, line = 40, 600, 18
	var body strings.Builder
	end := time.Since(r.begun).Seconds()
	text := func(x, y int, colour, text string) {
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x, y, colour, text)
	}
	text(8, line, "#e2e8f0", fmt.Sprintf("%d workers contend for one lock, for %.1f s", len(r.lanes), end))
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, l := range r.lanes {
		y := line * (i + 3)
		text(8, y, "#a0aec0", fmt.Sprint(i+1))
		for j, mark := range l.marks {
			from, until := l.from[j].Sub(r.begun).Seconds(), end
			if j+1 < len(l.from) {
				until = l.from[j+1].Sub(r.begun).Seconds()
			}
			height := 14
			if mark == lanes.Waits {
				height = 2
			}
			if mark != lanes.Idle {
				fmt.Fprintf(&body, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
					left+width*from/end, y-5-height/2, width*(until-from)/end, height, paint[mark])
			}
		}
	}
	for mark, x := lanes.Waits, left; mark <= lanes.Gone; mark, x = mark+1, x+40+8*len(mark.Meaning()) {
		text(x, line*(len(r.lanes)+4), paint[mark], "■ "+mark.Meaning())
	}
	return os.WriteFile(file, fmt.Appendf(nil, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 648 %[1]d\" width=\"648\" height=\"%[1]d\" "+ //nolint:gosec // to be shown
		"font-family=\"monospace\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#1a202c\"/>\n%[2]s</svg>\n", line*(len(r.lanes)+5), &body), 0o644)
}
