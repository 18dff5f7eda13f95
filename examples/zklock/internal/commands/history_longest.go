package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// A wait is a contender that has waited, at a lock.
type wait struct {
	contender history.Contender
	lock      string
	took      time.Duration
}

// A waiter is a client, by its session and the data of its nodes, and how it waited.
type waiter struct {
	who     string
	session int64
	times   int
	all     time.Duration
	longest time.Duration
}

// longestTable has the contenders that waited longest, and below them the clients that waited most often. A contender
// that was let in as it came has not waited.
func longestTable(h *history.History, most, columns int) string {
	var waits []wait
	byClient := map[waiter]*waiter{}
	for _, l := range h.Locks {
		for i := range l.Contenders {
			c := &l.Contenders[i]
			d, known := c.Waited(h.To.At)
			if !known || c.Queued.Zxid == c.LetIn.Zxid {
				continue
			}
			waits = append(waits, wait{*c, l.Path, d})
			key := waiter{who: c.Who, session: c.Session}
			w := byClient[key]
			if w == nil {
				w = &waiter{who: c.Who, session: c.Session}
				byClient[key] = w
			}
			w.times, w.all, w.longest = w.times+1, w.all+d, max(w.longest, d)
		}
	}
	slices.SortStableFunc(waits, func(a, b wait) int { return cmp.Compare(b.took, a.took) })
	longest, locks := make([]history.Contender, min(most, len(waits))), []string(nil)
	for i := range longest {
		longest[i] = waits[i].contender
		if len(h.Locks) > 1 {
			locks = append(locks, waits[i].lock)
		}
	}
	var clients []*waiter
	for _, w := range byClient {
		clients = append(clients, w)
	}
	slices.SortFunc(clients, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(b.all, a.all), cmp.Compare(a.session, b.session), strings.Compare(a.who, b.who))
	})
	var out strings.Builder
	fmt.Fprintf(&out, "The longest of %d waits:\n\n%s\n", len(waits), contendersTable(h, longest, locks, columns))
	fmt.Fprintf(&out, "Who waited most often:\n\n%6s  %8s  %8s  %-18s  WHO\n", "WAITS", "MEAN", "LONGEST", "SESSION")
	for _, w := range clients[:min(most, len(clients))] {
		text := fmt.Sprintf("%6d  %8s  %8s  %-18s  ", w.times, short(w.all/time.Duration(w.times)), short(w.longest), sessionText(w.session))
		out.WriteString(text + survey.Cut(w.who, room(columns, len(text))) + "\n")
	}
	return out.String()
}
