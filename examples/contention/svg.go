package main

import (
	"fmt"
	"html"
	"os"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/internal/lanes"
)

// Sizes of the picture, and the colours of its marks.
const (
	cellWidth, lineHeight = 8, 18
	fontSize              = 13
)

var paint = [...]string{
	waits: "#4a5568", away: "#d69e2e", holds: "#38a169", unsure: "#ecc94b", gone: "#e53e3e",
}

// svg is the picture of the board. It is as wide as what a terminal shows, but exact, since a cell would show two
// holders if the lock changed hands in it.
func (b *board) svg() string {
	var body strings.Builder
	y := 0
	x := func(at time.Time) float64 {
		return cellWidth * (margin + cells*at.Sub(b.begun).Seconds()/max(b.end.Sub(b.begun).Seconds(), 0.001))
	}
	text := func(x int, colour, s string) {
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x, y, colour, html.EscapeString(s))
	}
	next := func() { y += lineHeight }
	next()
	text(cellWidth, "#e2e8f0", b.title)
	next()
	for i, l := range b.rows() {
		next()
		text(cellWidth, "#a0aec0", fmt.Sprintf("%3d  %s", i+1, l.mark().Word()))
		for i, span := range l.spans {
			to := b.end
			if i+1 < len(l.spans) {
				to = l.spans[i+1].from
			}
			bar(&body, span.mark, x(span.from), x(to), y)
		}
	}
	next()
	text(margin*cellWidth, "#718096", "0 s")
	text((margin+cells-len("99.9 s"))*cellWidth, "#718096", fmt.Sprintf("%4.1f s", b.end.Sub(b.begun).Seconds()))
	next()
	left := cellWidth
	for m := waits; m <= gone; m++ {
		fmt.Fprintf(&body, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", left, y-10, paint[m])
		text(left+14, "#a0aec0", m.Meaning())
		left += 14 + (len(m.Meaning())+2)*cellWidth
	}
	for _, line := range b.news {
		next()
		text(cellWidth, "#e2e8f0", strings.TrimSpace(line))
	}
	height := y + lineHeight
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "+
		"font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"%d\" xml:space=\"preserve\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#1a202c\"/>\n%s</svg>\n",
		(lanes.Width+2)*cellWidth, height, (lanes.Width+2)*cellWidth, height, fontSize, body.String())
}

// bar draws a span: waiting as a thin line, the rest as blocks.
func bar(body *strings.Builder, m lanes.Mark, from, to float64, y int) {
	if m == idle || to <= from {
		return
	}
	top, height := y-12, 14
	if m == waits {
		top, height = y-6, 2
	}
	fmt.Fprintf(body, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", from, top, to-from, height, paint[m])
}

// writePicture writes it to a file.
func (b *board) writePicture(file string) error {
	return os.WriteFile(file, []byte(b.svg()), 0o644) //nolint:gosec // to be shown
}
