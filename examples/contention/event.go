package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
)

// An event is what is printed of one thing that happened: its exported fields with -json, its text otherwise.
type event struct {
	Time   string  `json:"time"` // RFC 3339, with nanoseconds
	PID    int     `json:"pid"`
	Worker int     `json:"worker,omitempty"` // none for what concerns all
	Event  string  `json:"event"`
	Node   string  `json:"node,omitempty"`      // the worker's own
	Ahead  string  `json:"ahead,omitempty"`     // the node that it waits for, or waited for last
	Token  int64   `json:"token,omitempty"`     // the fencing token, which it has when it holds
	Waited float64 `json:"waited_ms,omitempty"` // when it is let in
	Held   float64 `json:"held_ms,omitempty"`   // when its hold ends
	State  string  `json:"state,omitempty"`     // the worker's connection; "gone" or "back" for the servers
	Text   string  `json:"text,omitempty"`      // what a note says

	at    time.Time
	text  string
	state framework.State
}

// Events. Those above note are of one hold, those below of connections.
const (
	waiting  = "waiting"
	acquired = "acquired"
	released = "released"
	lost     = "lost"
	note     = "note"
	cut      = "cut"
	state    = "state"
	servers  = "servers"
)

// timeFormat has as many digits in every line, so that lines sort.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// jsonLines prints one object a line.
func jsonLines(out io.Writer) func(event) {
	encoder := json.NewEncoder(out)
	pid := os.Getpid()
	return func(e event) {
		e.Time, e.PID = e.at.UTC().Format(timeFormat), pid
		if e.Event == note {
			e.Text = e.text
		}
		_ = encoder.Encode(e) // as in say
	}
}

// plain prints sentences, for files and pipes.
func plain(out io.Writer, begun time.Time) func(event) {
	return func(e event) { say(out, "%.3f %s\n", e.at.Sub(begun).Seconds(), e.sentence()) }
}

func (e event) sentence() string {
	switch {
	case e.Worker == 0:
		return e.text
	case e.Node == "":
		return fmt.Sprintf("worker %d: %s", e.Worker, e.text)
	default:
		return fmt.Sprintf("worker %d at %s: %s", e.Worker, short(e.Node), e.text)
	}
}

// isTerminal reports whether a file is a terminal that can be drawn on. Other devices of characters are known by name.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return false
	}
	for _, name := range []string{os.DevNull, "/dev/full", "/dev/zero"} {
		if other, err := os.Stat(name); err == nil && os.SameFile(info, other) {
			return false
		}
	}
	return true
}

// say prints. The output remembers a write that fails, and ends the program.
func say(out io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(out, format, args...)
}

// short leaves out of a node's name the GUID by which its owner finds it again.
func short(node string) string {
	if i := strings.LastIndex(node, "lock-"); i >= 0 {
		return node[i:]
	}
	return node
}

// round leaves three or so digits of a duration.
func round(d time.Duration) time.Duration {
	unit := time.Microsecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// milliseconds is a duration for programs.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
