package commands

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// A momentJSON is null if the moment is not known or has not come.
type momentJSON struct {
	Zxid string     `json:"zxid"`
	Time *time.Time `json:"time"` // null in a gap of the logs, and if no clock can have shown it
}

func momentOf(m txnlog.Moment) *momentJSON {
	if m == (txnlog.Moment{}) {
		return nil
	}
	j := &momentJSON{Zxid: zxidText(m.Zxid)}
	if year := m.At.UTC().Year(); !m.At.IsZero() && year >= 0 && year <= 9999 { // JSON has no other years
		at := m.At.UTC()
		j.Time = &at
	}
	return j
}

func zxidText(zxid int64) string { return fmt.Sprintf("%#x", uint64(zxid)) }

type contenderJSON struct {
	Path         string      `json:"path"`
	Node         string      `json:"node"`
	Kind         string      `json:"kind"`
	By           string      `json:"by,omitempty"`
	Session      string      `json:"session"`
	Who          string      `json:"who"`
	Token        int64       `json:"token"`
	Czxid        string      `json:"czxid"`
	Queued       *momentJSON `json:"queued"`
	LetIn        *momentJSON `json:"let_in"`
	LetInEarlier bool        `json:"let_in_earlier,omitempty"`
	AskedToLeave *momentJSON `json:"asked_to_leave,omitempty"`
	AskedEarlier bool        `json:"asked_earlier,omitempty"`
	Ended        *momentJSON `json:"ended"`
	How          string      `json:"how,omitempty"`
	EndedBy      string      `json:"ended_by,omitempty"`
	Waited       *float64    `json:"waited_seconds"` // null if it is not known
	Held         *float64    `json:"held_seconds"`
}

func contenderOf(c *history.Contender, now time.Time) contenderJSON {
	j := contenderJSON{
		Path: c.Path, Node: c.Node, Kind: string(c.Kind), By: c.By, Session: sessionText(c.Session), Who: c.Who,
		Token: c.Token, Czxid: zxidText(c.Czxid), Queued: momentOf(c.Queued), LetIn: momentOf(c.LetIn), LetInEarlier: c.LetInEarlier,
		AskedToLeave: momentOf(c.AskedToLeave), AskedEarlier: c.AskedEarlier, Ended: momentOf(c.Ended), How: string(c.How),
		Waited: secondsOf(c.Waited(now)), Held: secondsOf(c.Held(now)),
	}
	if c.EndedBy != 0 {
		j.EndedBy = sessionText(c.EndedBy)
	}
	return j
}

func secondsOf(d time.Duration, known bool) *float64 {
	if !known {
		return nil
	}
	seconds := d.Seconds()
	return &seconds
}

type noteJSON struct {
	Kind   string `json:"kind"`
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	First  string `json:"first,omitempty"`
	Last   string `json:"last,omitempty"`
	Text   string `json:"text"`
}

func noteOf(n txnlog.Note) noteJSON {
	j := noteJSON{Kind: string(n.Kind), File: n.File, Offset: n.Offset, Text: n.String()}
	if n.First != 0 {
		j.First, j.Last = zxidText(n.First), zxidText(n.Last)
	}
	return j
}

// printHistory prints one object, with a line for each contender: there may be too many for one value in memory.
func printHistory(out io.Writer, h *history.History) error {
	w := &jsonWriter{out: bufio.NewWriter(out)}
	w.text("{\n\"path\": ").value(h.Path)
	w.text(",\n\"from\": ").value(momentOf(h.From))
	w.text(",\n\"to\": ").value(momentOf(h.To))
	w.text(",\n\"locks\": [")
	for i, l := range h.Locks {
		w.comma(i).text("\n{\"path\": ").value(l.Path).text(", \"kind\": ").value(l.Kind)
		if l.Limit > 0 {
			w.text(", \"limit\": ").value(l.Limit)
		}
		if len(l.MayOverlap) > 0 {
			w.text(", \"may_overlap\": ").value(l.MayOverlap)
		}
		w.text(", \"contenders\": [")
		for i := range l.Contenders {
			w.comma(i).text("\n").value(contenderOf(&l.Contenders[i], h.To.At))
		}
		w.text("]}")
	}
	w.text("],\n\"omitted\": ").value(h.Omitted)
	w.text(",\n\"notes\": [")
	for i, n := range h.Notes {
		w.comma(i).text("\n").value(noteOf(n))
	}
	w.text("],\n\"more_notes\": ").value(h.MoreNotes).text("\n}\n")
	return w.end()
}

// A jsonWriter remembers the first error.
type jsonWriter struct {
	out *bufio.Writer
	err error
}

func (w *jsonWriter) text(s string) *jsonWriter {
	if w.err == nil {
		_, w.err = w.out.WriteString(s)
	}
	return w
}

func (w *jsonWriter) comma(i int) *jsonWriter {
	if i > 0 {
		return w.text(",")
	}
	return w
}

func (w *jsonWriter) value(v any) *jsonWriter {
	text, err := json.Marshal(v)
	if err != nil {
		w.err = err // all fields are plain
	}
	return w.text(escaped(string(text)))
}

// escaped writes what would move the cursor, or the words around it, in the way that JSON has for it. All of that is in
// strings.
func escaped(text string) string {
	odd := func(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) }
	if !strings.ContainsFunc(text, odd) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if !odd(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, "\\u%04x", unit)
		}
	}
	return out.String()
}

func (w *jsonWriter) end() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}
