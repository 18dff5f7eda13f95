package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// timeColumn is a moment, to a millisecond, as servers know it.
const timeColumn = "2006-01-02 15:04:05.000"

func clock(at time.Time) string {
	if at.IsZero() {
		return "?"
	}
	return at.Local().Format(timeColumn) //nolint:gosmopolitan // people read it
}

// historyTable has a line for each contender of a lock, in so many columns; 0 is no limit.
func historyTable(h *history.History, lock *history.Lock, columns int) string {
	return lockTitle(h, lock) + "\n" + contendersTable(h, lock.Contenders, nil, columns) + mayOverlap(lock)
}

// mayOverlap says that the rule by which contenders are shown to wait may not be that of all.
func mayOverlap(lock *history.Lock) string {
	var out strings.Builder
	for _, why := range lock.MayOverlap {
		fmt.Fprintf(&out, "\n%s: holds may have overlapped: %s\n", survey.Printable(lock.Path), why)
	}
	return out.String()
}

func lockTitle(h *history.History, lock *history.Lock) string {
	held := 0
	for i := range lock.Contenders {
		if lock.Contenders[i].In() {
			held++
		}
	}
	kind := lock.Kind
	if lock.Limit > 0 {
		kind += fmt.Sprintf(" of %d", lock.Limit)
	}
	return fmt.Sprintf("%s: %s, %d contenders, %d let in; logs from %s to %s\n",
		survey.Printable(lock.Path), kind, len(lock.Contenders), held, clock(h.From.At), clock(h.To.At))
}

// contendersTable names the locks of contenders if it has several.
func contendersTable(h *history.History, list []history.Contender, locks []string, columns int) string {
	var out strings.Builder
	wide := 4
	for _, lock := range locks {
		wide = max(wide, len([]rune(survey.Printable(lock))))
	}
	lockColumn := func(lock string) string {
		if locks == nil {
			return ""
		}
		return fmt.Sprintf("%-*s  ", wide, survey.Printable(lock))
	}
	const format = "%-23s  %8s  %9s  %-8s  %-12s  %-18s  "
	line := func(queued, waited, held, ended, token, session, lock, who string) {
		text := fmt.Sprintf(format, queued, waited, held, ended, token, session) + lockColumn(lock)
		out.WriteString(strings.TrimRight(text+survey.Cut(who, room(columns, len([]rune(text)))), " ") + "\n")
	}
	line("QUEUED", "WAITED", "HELD", "ENDED", "TOKEN", "SESSION", "LOCK", "WHO")
	for i := range list {
		c := &list[i]
		waited, held, token := shortOr(c.Waited(h.To.At)), "-", "?"
		if c.In() {
			held = shortOr(c.Held(h.To.At))
		}
		if c.LetInEarlier {
			held = "<" + held
		}
		if c.Token != 0 {
			token = fmt.Sprint(c.Token)
		}
		lock := ""
		if locks != nil {
			lock = locks[i]
		}
		line(clock(c.Queued.At), waited, held, ended(c), token, sessionText(c.Session), lock, c.Who)
	}
	return out.String()
}

// shortOr is "?" for what is not known.
func shortOr(d time.Duration, known bool) string {
	if !known {
		return "?"
	}
	return short(d)
}

// ended says how a contender ended, or what it does.
func ended(c *history.Contender) string {
	switch {
	case c.How != "":
		return string(c.How)
	case c.In():
		return "holds"
	default:
		return "waits"
	}
}

// locksTable has a line for each lock.
func locksTable(h *history.History, columns int) string {
	wide := 4
	for _, l := range h.Locks {
		wide = max(wide, len([]rune(survey.Printable(l.Path))))
	}
	var out strings.Builder
	line := func(path, kind, queued, held, wait, hold, who string) {
		text := fmt.Sprintf("%-*s  %-10s %6s %6s  %12s  %12s  ", wide, survey.Printable(path), kind, queued, held, wait, hold)
		out.WriteString(strings.TrimRight(text+survey.Cut(who, room(columns, len([]rune(text)))), " ") + "\n")
	}
	line("LOCK", "KIND", "QUEUED", "LET IN", "LONGEST WAIT", "LONGEST HOLD", "HELD LONGEST BY")
	for _, l := range h.Locks {
		held, who, earlier := 0, "", ""
		var wait, hold time.Duration
		for i := range l.Contenders {
			c := &l.Contenders[i]
			if d, known := c.Waited(h.To.At); known {
				wait = max(wait, d)
			}
			if c.In() {
				held++
			}
			if d, known := c.Held(h.To.At); known && d > hold {
				hold, who, earlier = d, c.Who, ""
				if c.LetInEarlier {
					earlier = "<"
				}
			}
		}
		line(l.Path, l.Kind, fmt.Sprint(len(l.Contenders)), fmt.Sprint(held), short(wait), earlier+short(hold), who)
	}
	for i := range h.Locks {
		out.WriteString(mayOverlap(&h.Locks[i]))
	}
	return out.String()
}
