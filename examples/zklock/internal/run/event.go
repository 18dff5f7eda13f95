package run

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// An Event is a line of -status-fd and -json. Fields that do not belong to the event are left out.
type Event struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // waiting, acquired, started, warned and so on: see Help
	Path      string    `json:"path,omitempty"`
	Node      string    `json:"node,omitempty"`
	Token     int64     `json:"token,omitempty"`
	Session   string    `json:"session,omitempty"`
	Waited    float64   `json:"waited_ms,omitempty"`
	Ahead     int       `json:"ahead,omitempty"`
	Behind    string    `json:"behind,omitempty"` // the data of the node ahead
	PID       int       `json:"pid,omitempty"`
	Cgroup    string    `json:"cgroup,omitempty"` // the cgroup that the command was started in
	Code      *int      `json:"code,omitempty"`
	Signal    string    `json:"signal,omitempty"`
	Spare     *float64  `json:"spare_ms,omitempty"` // how long the lease was to last from then; negative: it was over
	Processes []string  `json:"processes,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Cause     string    `json:"cause,omitempty"` // what explains a loss, one of a closed list: session.LossKind

	text    string // for people
	problem bool   // text is printed without -v
}

// lostEvent says that the lock is lost, and what explains that. Making it takes some microseconds: first the command is
// killed.
func lostEvent(reason error) Event {
	why := session.Explain(reason)
	text := fmt.Sprintf("%v: %s", reason, why)
	return Event{Event: "lost", Reason: text, Cause: why.Kind.String(), text: "the lock is lost: " + text, problem: true}
}

// A teller reports events, to people or as JSON, and to a descriptor. It is safe for concurrent use.
type teller struct {
	mu      sync.Mutex
	command string // zklock's own: run or hold
	errs    io.Writer
	status  io.Writer // nil: none
	json    bool      // instead of text
	verbose bool
	quiet   bool
}

func (t *teller) tell(e Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	line, err := json.Marshal(e)
	if err != nil {
		return // all fields are plain
	}
	line = append(line, '\n')
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != nil {
		_, _ = t.status.Write(line) // its reader may be gone
	}
	switch {
	case t.json:
		_, _ = t.errs.Write(line)
	case e.text != "" && !t.quiet && (t.verbose || e.problem):
		_, _ = fmt.Fprintf(t.errs, "zklock: %s\n", Printable(e.text))
	}
}

// notice is for people alone; -v has already shown them each step.
func (t *teller) notice(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.json && !t.quiet && !t.verbose {
		_, _ = fmt.Fprintf(t.errs, "zklock: %s\n", Printable(text))
	}
}

// Printable removes what could move the cursor or change colours: other clients write the texts of nodes.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffd || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '?'
		}
		return r
	}, text)
}

// milliseconds is a duration as JSON has it.
func milliseconds(d time.Duration) *float64 {
	ms := float64(d.Microseconds()) / 1000
	return &ms
}
