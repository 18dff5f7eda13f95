package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// repaint is how often a terminal is redrawn.
const repaint = 100 * time.Millisecond

// A screen draws a board on a terminal, again and again in the same place.
type screen struct {
	out     io.Writer
	colours bool

	mu    sync.Mutex
	board *board
	drawn int // lines that stand there

	quit, ended chan struct{}
}

// newScreen begins to draw.
func newScreen(out io.Writer, b *board) *screen {
	s := &screen{
		out: out, board: b, colours: os.Getenv("NO_COLOR") == "", quit: make(chan struct{}), ended: make(chan struct{}),
	}
	say(out, "\x1b[?25l") // without a cursor
	go func() {
		defer close(s.ended)
		ticker := time.NewTicker(repaint)
		defer ticker.Stop()
		for {
			select {
			case now := <-ticker.C:
				s.draw(now)
			case <-s.quit:
				return
			}
		}
	}()
	return s
}

func (s *screen) show(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board.show(e)
}

func (s *screen) draw(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board.advance(now)
	var text strings.Builder
	if s.drawn > 0 {
		text.WriteString("\x1b[" + strconv.Itoa(s.drawn) + "A")
	}
	lines := s.board.lines(s.colours)
	for _, line := range lines {
		text.WriteString("\r\x1b[2K" + line + "\n")
	}
	s.drawn = len(lines)
	say(s.out, "%s", text.String())
}

// close draws the end.
func (s *screen) close() {
	close(s.quit)
	<-s.ended
	s.draw(time.Now())
	say(s.out, "\x1b[?25h\n")
}
