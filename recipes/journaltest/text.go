package journaltest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gocurator/curator/framework/zktest"
)

// Lane is the client that the event is of, or "server".
func (e Event) Lane() string {
	if e.Client == "" {
		return "server"
	}
	return e.Client
}

// String is the event in a line, without its time and its lane. Names are without their GUIDs.
func (e Event) String() string {
	switch {
	case e.Step != nil:
		return textOf(*e.Step)
	case e.Transaction != nil:
		return textOfTransaction(*e.Transaction)
	case e.Killed != 0:
		return fmt.Sprintf("an administrator ends session %#x", e.Killed)
	case e.Died:
		return "its process dies"
	default:
		return "finds the orphan " + short(e.Orphan)
	}
}

func textOf(s Step) string {
	text := []string{string(s.Kind)}
	if s.Node != "" {
		text = append(text, short(s.Node))
	}
	if s.Hold != 0 {
		text = append(text, fmt.Sprintf("hold %d", s.Hold))
	}
	if s.Admitted {
		text = append(text, "admitted")
	}
	if s.Names != nil {
		names := make([]string, len(s.Names))
		for i, name := range s.Names {
			names[i] = short(name)
		}
		text = append(text, "["+strings.Join(names, " ")+"]")
	}
	if s.Zxid != 0 {
		text = append(text, fmt.Sprintf("at %#x", s.Zxid))
	}
	if s.Err != "" {
		text = append(text, s.Err)
	}
	return strings.Join(text, " ")
}

func textOfTransaction(t zktest.Transaction) string {
	text := []string{fmt.Sprintf("%#x", t.Zxid)}
	for _, c := range t.Changes {
		text = append(text, strings.ToLower(c.Kind.String()), short(c.Path))
	}
	switch {
	case t.EndsSession:
		text = append(text, fmt.Sprintf("session %#x ends", t.Session))
	case t.Failed:
		text = append(text, "refused")
	}
	return strings.Join(text, " ")
}

// short is a node's name without its GUID.
func short(path string) string { return WithoutGUIDs(path[strings.LastIndexByte(path, '/')+1:]) }

var guid = regexp.MustCompile(`_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-?`)

// WithoutGUIDs is a text about nodes that is short enough to be read.
func WithoutGUIDs(text string) string { return guid.ReplaceAllString(text, "") }
