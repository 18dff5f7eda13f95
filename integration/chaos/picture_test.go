//go:build linux

package chaos_test

import (
	"cmp"
	"fmt"
	"html"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	pictureLength = 120e9 // ns
	left, right   = 150.0, 1180.0
	top, rowStep  = 56.0, 15.0
)

var colours = map[string]string{ours: "#00838f", java: "#e65100", python: "#558b2f"}

// A plot draws a part of a run: who held what, and when faults lasted.
type plot struct {
	strings.Builder

	from, to int64
}

// x is where a time lies.
func (p *plot) x(at int64) float64 {
	at = min(max(at, p.from), p.to)
	return left + (right-left)*float64(at-p.from)/float64(p.to-p.from)
}

func (p *plot) text(x, y float64, more, format string, args ...any) {
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f"%s>%s</text>`+"\n", x, y, more, html.EscapeString(fmt.Sprintf(format, args...)))
}

// draw writes a picture of the round's first two minutes.
func (r *run) draw(file string, l *ledger) {
	r.t.Helper()
	last := r.from
	for _, h := range r.history.closed {
		last = max(last, h.to)
	}
	p := &plot{from: r.from, to: min(last, r.from+int64(pictureLength))}
	rows := r.rows(l)
	seen := r.episodes
	if i := slices.IndexFunc(seen, func(e episode) bool { return e.Begun >= p.to }); i >= 0 {
		seen = seen[:i]
	}
	bottom := top + rowStep*float64(len(rows)) + 4
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 %.0f"`, bottom+30+rowStep*float64(len(seen)))
	fmt.Fprintln(p, ` font-family="sans-serif" font-size="10">`)
	fmt.Fprintln(p, `<rect width="100%" height="100%" fill="white"/>`)
	p.text(left, 16, ` font-size="13"`, "three servers and four processes under fire: who held what, seed %d", r.seed)
	x := left
	for _, language := range []string{ours, java, python} {
		fmt.Fprintf(p, `<rect x="%.1f" y="24" width="10" height="10" fill="%s"/>`+"\n", x, colours[language])
		p.text(x+14, 33, "", "%s", language)
		x += 70
	}
	p.text(x, 33, "", "red: lost; hollow: its process does not know. Shaded: faults, paler until every lock was served again")
	for i, e := range seen {
		p.shade(i+1, e, bottom)
	}
	for i, row := range rows {
		p.row(row, top+rowStep*float64(i))
	}
	for at := p.from; at <= p.to; at += 10e9 {
		p.text(p.x(at), bottom+14, ` text-anchor="middle"`, "%d s", (at-p.from)/1e9)
	}
	fmt.Fprintln(p, "</svg>")
	if err := os.WriteFile(file, []byte(p.String()), 0o644); err != nil {
		r.t.Errorf("draw: %v", err)
	}
}

// rows are the holds by their directory and their process. What ends a hold of another language is the removal of its
// node, whatever its process believes.
func (r *run) rows(l *ledger) [][]hold {
	byRow := map[string][]hold{}
	for _, h := range r.history.closed {
		if gone, ok := l.removed[h.path+"/"+h.node]; ok && h.language != ours {
			h.valid = gone.UnixNano() + r.clock.to
		}
		process, _, _ := strings.Cut(h.who, ".")
		key := fmt.Sprint(slices.Index(queues, h.path), process)
		byRow[key] = append(byRow[key], h)
	}
	rows := make([][]hold, 0, len(byRow))
	for _, row := range byRow {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b []hold) int {
		return cmp.Or(cmp.Compare(slices.Index(queues, a[0].path), slices.Index(queues, b[0].path)), cmp.Compare(a[0].who, b[0].who))
	})
	return rows
}

// shade draws a numbered window, and writes what it was below the picture.
func (p *plot) shade(number int, e episode, bottom float64) {
	for _, part := range []struct {
		from, to int64
		colour   string
	}{{e.Begun, e.Healed, "#ffcdd2"}, {e.Healed, e.Serving, "#fff3e0"}} {
		fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n",
			p.x(part.from), top-4, p.x(part.to)-p.x(part.from), bottom-top+4, part.colour)
	}
	const more = ` fill="#b71c1c"`
	p.text(p.x(e.Begun)+2, top-7, more, "%d", number)
	p.text(left, bottom+20+rowStep*float64(number), more, "%d  %v", number, e.Window)
}

func (p *plot) row(row []hold, y float64) {
	process, _, _ := strings.Cut(row[0].who, ".")
	p.text(left-6, y+9, ` text-anchor="end"`, "%s  %s", path.Base(strings.TrimSuffix(row[0].path, "/leases")), process)
	var alone, shared strings.Builder
	for _, h := range row {
		if h.from > p.to || h.to < p.from {
			continue
		}
		until := h.to
		if h.lost() {
			until = h.valid
			if h.language != ours {
				fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="%.2f" height="11" fill="none" stroke="%s" stroke-width="0.5"/>`+"\n",
					p.x(until), y, p.x(h.to)-p.x(until), colours[h.language])
			}
			fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="1.5" height="11" fill="#d50000"/>`+"\n", p.x(until), y)
		}
		lines := &alone
		if h.shared {
			lines = &shared
		}
		fmt.Fprintf(lines, "M%.1f %.1fh%.1f", p.x(h.from), y+5.5, max(0.3, p.x(until)-p.x(h.from)))
	}
	const holds = `<path d="%s" stroke="%s" stroke-width="11" opacity="%s"/>` + "\n"
	fmt.Fprintf(p, holds, &alone, colours[row[0].language], "1")
	fmt.Fprintf(p, holds, &shared, colours[row[0].language], "0.5")
}
