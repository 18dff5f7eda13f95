package main

import (
	"fmt"
	"html"
	"os"
	"strings"
)

// Sizes of the picture, and the colours of its marks.
const (
	cellWidth, lineHeight = 8, 18
	fontSize              = 13
)

var paint = [...]string{
	waits: "#4a5568", away: "#d69e2e", holds: "#38a169", unsure: "#ecc94b", gone: "#e53e3e",
}

// svg is the picture of the board: what lines draws, with rectangles for the cells.
func (b *board) svg() string {
	var body strings.Builder
	y := 0
	text := func(x int, colour, s string) {
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x, y, colour, html.EscapeString(s))
	}
	next := func() { y += lineHeight }
	next()
	text(cellWidth, "#e2e8f0", b.title)
	next()
	for i, l := range b.rows() {
		next()
		text(cellWidth, "#a0aec0", fmt.Sprintf("%3d  %s", i+1, word(l.mark())))
		for c := 0; c <= b.now; {
			from, m := c, l.cells[c]
			for c <= b.now && l.cells[c] == m {
				c++
			}
			b.bar(&body, m, from, c, y)
		}
	}
	next()
	text(margin*cellWidth, "#718096", "0 s")
	text((margin+max(b.now-5, 4))*cellWidth, "#718096", fmt.Sprintf("%.1f s", b.end.Sub(b.begun).Seconds()))
	next()
	x := cellWidth
	for m := waits; m <= gone; m++ {
		fmt.Fprintf(&body, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x, y-10, paint[m])
		text(x+14, "#a0aec0", marks[m].word)
		x += 14 + (len(marks[m].word)+2)*cellWidth
	}
	for _, line := range b.news {
		next()
		text(cellWidth, "#e2e8f0", strings.TrimSpace(line))
	}
	height := y + lineHeight
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "+
		"font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"%d\" xml:space=\"preserve\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#1a202c\"/>\n%s</svg>\n",
		(width+2)*cellWidth, height, (width+2)*cellWidth, height, fontSize, body.String())
}

// bar draws cells of one mark: waiting as a thin line, the rest as blocks.
func (b *board) bar(body *strings.Builder, m mark, from, to, y int) {
	if m == idle {
		return
	}
	top, height := y-12, 14
	if m == waits {
		top, height = y-6, 2
	}
	fmt.Fprintf(body, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n",
		(margin+from)*cellWidth, top, (to-from)*cellWidth, height, paint[m])
}

// writePicture writes it to a file.
func (b *board) writePicture(file string) error {
	return os.WriteFile(file, []byte(b.svg()), 0o644) //nolint:gosec // to be shown
}
