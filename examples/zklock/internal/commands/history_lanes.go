package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/internal/lanes"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

const (
	laneMargin = 26 // columns for who it is
	laneCells  = lanes.Width - laneMargin
	mostLanes  = 40
)

// A clientLane has all contenders of a client, which is a session and the data of its nodes.
type clientLane struct {
	who   string
	cells [laneCells]lanes.Mark
}

// lanesOf draws a line for each client, from the first contender, or the begin of what was asked for, to the newest
// transaction, or its end. A cell in which a hold was not released, but ended with its session or by hand, is LOST.
func lanesOf(h *history.History, lock *history.Lock, o history.Options, colours bool) string {
	from, to := laneBounds(h, lock, o)
	cell := max(to.Sub(from)/laneCells, time.Millisecond)
	at := func(t time.Time) int { return min(max(int(t.Sub(from)/cell), 0), laneCells-1) }
	type client struct {
		session int64
		who     string
	}
	byClient := map[client]*clientLane{}
	var all []*clientLane
	for i := range lock.Contenders {
		c := &lock.Contenders[i]
		key := client{c.Session, c.Who}
		lane := byClient[key]
		if lane == nil {
			lane = &clientLane{who: c.Who}
			byClient[key] = lane
			all = append(all, lane)
		}
		lane.draw(c, to, at)
	}
	var out strings.Builder
	out.WriteString(lanes.Clip(fmt.Sprintf("%s: %s, %d clients", survey.Printable(lock.Path), lock.Kind, len(all))) + "\n\n")
	for _, lane := range all[:min(len(all), mostLanes)] {
		out.WriteString(fmt.Sprintf("%-*s", laneMargin, survey.Cut(lane.who, laneMargin-2)) + lanes.Draw(lane.cells[:], colours) + "\n")
	}
	if hidden := len(all) - mostLanes; hidden > 0 {
		fmt.Fprintf(&out, "+%d clients\n", hidden)
	}
	fmt.Fprintf(&out, "%*s%-*s%s\n", laneMargin, "", laneCells-len(timeColumn), clock(from), clock(to))
	return out.String() + lanes.Legend(colours, lanes.Waits, lanes.Holds, lanes.Gone) + "\n"
}

// laneBounds are the first and the last moment that are drawn.
func laneBounds(h *history.History, lock *history.Lock, o history.Options) (from, to time.Time) {
	from, to = o.From, h.To.At
	for i := range lock.Contenders {
		if at := lock.Contenders[i].Queued.At; o.From.IsZero() && !at.IsZero() && (from.IsZero() || at.Before(from)) {
			from = at
		}
	}
	if !o.To.IsZero() && o.To.Before(to) {
		to = o.To
	}
	return from, to
}

// draw marks the cells of a contender. Of a moment in a gap of the logs there is no time: what lasts until then, or
// from then on, is drawn where it is known.
func (l *clientLane) draw(c *history.Contender, to time.Time, at func(time.Time) int) {
	mark := func(m lanes.Mark, from, until txnlog.Moment) {
		end := until.At
		switch {
		case from.At.IsZero() || from.At.After(to):
			return
		case until == (txnlog.Moment{}) || end.After(to):
			end = to
		case end.IsZero():
			end = from.At
		}
		for i := at(from.At); i <= at(end); i++ {
			l.cells[i] = max(l.cells[i], m)
		}
	}
	if !c.In() {
		mark(lanes.Waits, c.Queued, c.Ended)
		return
	}
	if !c.LetInEarlier {
		mark(lanes.Waits, c.Queued, c.LetIn)
	}
	mark(lanes.Holds, c.LetIn, c.Ended)
	if c.How == history.Expired || c.How == history.Removed || c.How == history.Unknown {
		mark(lanes.Gone, c.Ended, c.Ended)
	}
}
