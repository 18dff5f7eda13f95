package picture_test

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Sizes of the picture: a column of Grafana's 24, a row, and what surrounds a plot.
const (
	column, row  = 36, 24
	left, right  = 52, 12
	above, below = 24, 18
	legendLine   = 16
)

// colours are readable on white and on black.
var colours = [...]string{"#2f7fd1", "#d9730d", "#2a9d6a", "#c2508f", "#8a63d2", "#a08600", "#cf4a4a", "#6b7a8c"}

const style = `<style>
text{font:12px system-ui,sans-serif;fill:#24292f}.t{font-weight:600;font-size:13px}.g{fill:#57606a}
.b{fill:#fff}.c{fill:#f6f8fa;stroke:#d0d7de}.l{stroke:#d0d7de}.f{stroke:#cf222e;stroke-width:1;stroke-dasharray:1 4}.n{fill:#cf222e}
path{fill:none;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.g{fill:#9ba6b2}.b{fill:#0d1117}.c{fill:#161b22;stroke:#30363d}
.l{stroke:#30363d}.f{stroke:#ff7b72}.n{fill:#ff7b72}}
</style>
`

// draw is the dashboard: the panels in their places, over the list of what happened.
func draw(panels []panel, faults []fault) string {
	var body strings.Builder
	text := func(class string, x, y float64, format string, args ...any) {
		fmt.Fprintf(&body, `<text class="%s" x="%.0f" y="%.0f">%s</text>`+"\n", class, x, y, html.EscapeString(fmt.Sprintf(format, args...)))
	}
	text("t", 12, 22, "Three processes (a, b, c) for half an hour: what dashboard.json shows of them")
	visible := 0
	for _, f := range faults {
		if f.text != "" {
			x, y := 12+432*float64(visible%2), 42+18*float64(visible/2)
			visible++
			text("n", x, y, "%d", visible)
			text("", x+16, y, "after %.0f min: %s", f.at.Minutes(), f.text)
		}
	}
	top := 56 + 18*float64((visible-1)/2)
	bottom := top
	for _, p := range panels {
		x, y := float64(p.GridPos.X*column), top+float64(p.GridPos.Y*row)
		width, height := float64(p.GridPos.W*column), float64(p.GridPos.H*row)
		bottom = max(bottom, y+height)
		fmt.Fprintf(&body, `<rect class="c" x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="4"/>`+"\n", x+4, y+4, width-8, height-8)
		text("t", x+12, y+20, "%s", p.Title)
		p.plot(&body, x, y, width, height, faults)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f">`+"\n%s"+
		`<rect class="b" width="100%%" height="100%%"/>`+"\n%s</svg>\n", 24*column, bottom+6, style, body.String())
}

// plot draws the curves of a panel, from zero, with the faults as lines across them, and the legend below.
func (p panel) plot(body *strings.Builder, x, y, width, height float64, faults []fault) {
	shown := slices.DeleteFunc(slices.Clone(p.curves), func(c curve) bool { return c.most() == 0 })
	legend := lines(shown, width)
	x0, x1 := x+left, x+width-right-4
	y1, y0 := y+above+10, y+height-below-10-legendLine*float64(len(legend))
	most := 0.0
	for _, c := range shown {
		most = max(most, c.most())
	}
	most = round(most, p.FieldConfig.Defaults.Unit)
	at := func(seconds float64) float64 { return x0 + (x1-x0)*seconds/length.Seconds() }
	for _, share := range []float64{0, 0.5, 1} {
		level := y0 + (y1-y0)*share
		fmt.Fprintf(body, `<path class="l" d="M%.0f %.1fH%.0f"/><text class="g" x="%.0f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			x0, level, x1, x0-5, level+4, quantity(most*share, p.FieldConfig.Defaults.Unit))
	}
	fmt.Fprintf(body, `<text class="g" x="%.0f" y="%.1f" text-anchor="end">%.0f min</text>`+"\n", x1, y0+13, length.Minutes())
	n := 0
	for _, f := range faults {
		if f.text != "" {
			n++
			fmt.Fprintf(body, `<path class="f" d="M%.1f %.1fV%.1f"/><text class="n" x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n",
				at(f.at.Seconds()), y0, y1, at(f.at.Seconds()), y0+13, n)
		}
	}
	for i, c := range shown {
		fmt.Fprintf(body, `<path stroke="%s" d="%s"/>`+"\n", colours[i%len(colours)], c.path(at, func(value float64) float64 {
			return y0 + (y1-y0)*value/most
		}))
	}
	for line, entries := range legend {
		across, down := x+12, y0+13+legendLine*float64(line+1)
		for _, i := range entries {
			fmt.Fprintf(body, `<path stroke="%s" d="M%.0f %.1fh10"/><text x="%.0f" y="%.1f">%s</text>`+"\n",
				colours[i%len(colours)], across, down-4, across+14, down, html.EscapeString(shown[i].name))
			across += entryWidth(shown[i].name)
		}
		if zeros := len(p.curves) - len(shown); zeros > 0 && line == len(legend)-1 {
			fmt.Fprintf(body, `<text class="g" x="%.0f" y="%.1f">%d always at 0</text>`+"\n", across, down, zeros)
		}
	}
}

// entryWidth is the width of a name in the legend, about.
func entryWidth(name string) float64 {
	width := 28.0
	for _, r := range name {
		if width += 6.4; r >= 'A' && r <= 'Z' {
			width += 2.6
		}
	}
	return width
}

// lines are the curves of a legend, by their index, line for line.
func lines(curves []curve, width float64) (all [][]int) {
	used := width
	for i, c := range curves {
		if used += entryWidth(c.name); used > width-16 {
			all, used = append(all, nil), entryWidth(c.name)
		}
		all[len(all)-1] = append(all[len(all)-1], i)
	}
	return all
}

// most is the largest value.
func (c curve) most() (most float64) {
	for _, p := range c.points {
		most = max(most, p.value)
	}
	return most
}

// path draws points that follow each other as a line, without those in the middle of a straight piece. Where the series
// pauses there is a gap; a point alone is a dot.
func (c curve) path(x, y func(float64) float64) string {
	var path strings.Builder
	follows := func(i int) bool {
		return i > 0 && i < len(c.points) && c.points[i].seconds-c.points[i-1].seconds <= scrapeInterval.Seconds()
	}
	for i, p := range c.points {
		switch {
		case !follows(i):
			fmt.Fprintf(&path, "M%.1f %.1f", x(p.seconds), y(p.value))
			if !follows(i + 1) {
				path.WriteString("h0")
			}
		case follows(i+1) && c.points[i-1].value == p.value && c.points[i+1].value == p.value:
		default:
			fmt.Fprintf(&path, "L%.1f %.1f", x(p.seconds), y(p.value))
		}
	}
	return path.String()
}

// round is the next number that an axis ends with: it begins with 1, 2 or 5, or is a usual number of seconds.
func round(most float64, unit string) float64 {
	if most <= 0 {
		return 1
	}
	if unit == "s" {
		for _, seconds := range []float64{2, 4, 10, 20, 30, 60, 120, 240, 600, 1200, 1800} {
			if most > 1 && seconds >= most {
				return seconds
			}
		}
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, first := range []float64{1, 2, 5} {
		if first*power >= most*(1-1e-9) {
			return first * power
		}
	}
	return 10 * power
}

// quantity is a value with its unit, of those that dashboard.json has.
func quantity(value float64, unit string) string {
	switch {
	case unit == "percentunit":
		return fmt.Sprintf("%.3g %%", 100*value)
	case unit == "bytes":
		return fmt.Sprintf("%.3g B", value)
	case unit == "s" && value >= 60:
		return fmt.Sprintf("%.3g min", value/60)
	case unit == "s" && value >= 1:
		return fmt.Sprintf("%.3g s", value)
	case unit == "s" && value > 0:
		return fmt.Sprintf("%.3g ms", 1000*value)
	case unit == "ops":
		return fmt.Sprintf("%.3g/s", value)
	default:
		return fmt.Sprintf("%.3g", value)
	}
}
