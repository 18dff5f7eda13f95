package plot

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A legend stands in rows below the plot. The library's own is one column inside of it, where the data is; so here each
// entry is a legend of its own, and the entries are set like words.
type legend []plot.Legend

func (l *legend) add(name string, thumbnails ...plot.Thumbnailer) {
	entry := plot.NewLegend()
	entry.Left, entry.Top = true, true
	entry.TextStyle.Font = sans(11)
	entry.Add(name, thumbnails...)
	*l = append(*l, entry)
}

// draw draws the legend at the foot of c and returns how much of its height it takes.
func (l legend) draw(c draw.Canvas) vg.Length {
	const gap, leading, space = 24, 18, 8
	rows := l.rows(c, gap)
	for i, row := range rows {
		x := (c.Max.X - c.Min.X - rowWidth(c, row, gap)) / 2
		for _, entry := range row {
			above := c.Max.Y - c.Min.Y - vg.Length(len(rows)-i)*leading
			entry.Draw(draw.Crop(c, x, 0, 0, -above))
			x += entryWidth(c, entry) + gap
		}
	}
	return vg.Length(len(rows))*leading + space
}

func (l legend) rows(c draw.Canvas, gap vg.Length) []legend {
	var rows []legend
	for _, entry := range l {
		last := len(rows) - 1
		if last >= 0 && rowWidth(c, append(rows[last][:len(rows[last]):len(rows[last])], entry), gap) <= c.Max.X-c.Min.X {
			rows[last] = append(rows[last], entry)
			continue
		}
		rows = append(rows, legend{entry})
	}
	return rows
}

func rowWidth(c draw.Canvas, row legend, gap vg.Length) vg.Length {
	width := -gap
	for _, entry := range row {
		width += entryWidth(c, entry) + gap
	}
	return width
}

func entryWidth(c draw.Canvas, entry plot.Legend) vg.Length {
	return entry.Rectangle(c).Size().X
}
