package overlap

import (
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// Worst is the verdict of all locks together.
func Worst(results []Result, incomplete bool) Verdict {
	worst := Apart
	if incomplete || len(results) == 0 {
		worst = Unknown
	}
	for _, r := range results {
		switch r.Verdict {
		case Overlapped:
			return Overlapped
		case Unknown:
			worst = Unknown
		case Apart:
		}
	}
	return worst
}

// Text says what was found, for people, in lines of at most about 100 characters.
func Text(results []Result, notes []string) string {
	var out strings.Builder
	for _, r := range results {
		r.text(&out)
	}
	for _, n := range notes {
		line(&out, "  ! ", n)
	}
	return out.String()
}

func (r *Result) text(out *strings.Builder) {
	line(out, "", fmt.Sprintf("%s: %s, by %d recorded holds%s", r.Path, r.headline(), r.Holds, r.outside()))
	for _, why := range r.MayOverlap {
		line(out, "  ! ", "holds may have overlapped: "+why)
	}
	for _, g := range r.Groups {
		line(out, "  ", string(g.Verdict)+":")
		for _, h := range g.Holds {
			whose, when := h.text()
			line(out, "    ", whose)
			line(out, "      ", when)
		}
		line(out, "    ", g.Why)
	}
	more(out, "groups", r.Overlaps+r.Unclear-len(r.Groups))
	for _, f := range r.Findings {
		text := f.What + ": " + f.Node
		if !f.Time.IsZero() {
			text += " at " + f.Time.UTC().Format(format)
		}
		if f.Process != "" {
			text += " by " + f.Process
		}
		line(out, "  ! ", text)
	}
	more(out, "findings", r.Found-len(r.Findings))
}

func (r *Result) headline() string {
	switch {
	case r.Holds+r.Unclear+r.Found == 0:
		return "nothing to judge"
	case r.Verdict == Apart:
		return "nothing overlapped"
	case r.Overlaps >= mostCounted:
		return fmt.Sprintf("at least %d overlapped", mostCounted)
	case r.Overlaps > 0:
		return fmt.Sprintf("%d overlapped", r.Overlaps)
	default:
		return fmt.Sprintf("nothing is known to have overlapped, %d undecided", r.Unclear+r.Found)
	}
}

func (r *Result) outside() string {
	if r.Outside == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d more are outside of the logs)", r.Outside)
}

const format = "2006-01-02 15:04:05.000"

// text is a hold: whose, by which token, and from when to when by its own clock.
func (h *Hold) text() (whose, when string) {
	whose = fmt.Sprintf("token %d, session %v: %s", h.token, h.Session, h.Who)
	if h.Process != "" {
		whose += " (" + h.Process + ")"
	}
	switch {
	case h.How == "":
		return whose, "no record: its node is still there"
	case !h.isTimed():
		return whose, "at times that are not known, " + string(h.How)
	}
	when = fmt.Sprintf("%s to %s, held %v, %s", h.Begin.Time.UTC().Format(format), h.End.Time.UTC().Format("15:04:05.000"),
		h.End.Time.Sub(h.Begin.Time).Round(time.Millisecond), h.How)
	if h.How == records.Lost && h.Reason != "" {
		when += " (" + h.Reason + ")"
	}
	return whose, when
}

// line writes a text of which no part can move a cursor.
func line(out *strings.Builder, before, text string) {
	out.WriteString(strings.TrimRight(before+survey.Printable(text), " ") + "\n")
}

func more(out *strings.Builder, what string, n int) {
	if n > 0 {
		line(out, "  ", fmt.Sprintf("and %d more %s", n, what))
	}
}
