package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// An event is what is printed of one thing that happened: its exported fields with -json, its text otherwise.
type event struct {
	Time   string `json:"time"` // RFC 3339, with nanoseconds
	PID    int    `json:"pid"`
	Worker int    `json:"worker"`
	Event  string `json:"event"` // waiting, acquired, released or lost; a note is for people only
	Node   string `json:"node"`  // the worker's own
	Ahead  string `json:"ahead"` // the node that it waits for, or waited for last
	Token  int64  `json:"token"` // the fencing token, which it has when it holds

	at   time.Time
	text string
}

const (
	waiting  = "waiting"
	acquired = "acquired"
	released = "released"
	lost     = "lost"
	note     = "note"
)

// jsonLines prints one object a line.
func jsonLines(out io.Writer) func(event) {
	encoder := json.NewEncoder(out)
	pid := os.Getpid()
	return func(e event) {
		if e.Event == note {
			return
		}
		e.Time, e.PID = e.at.UTC().Format("2006-01-02T15:04:05.000000000Z07:00"), pid
		_ = encoder.Encode(e) // as in say
	}
}

// plain prints sentences, for files and pipes.
func plain(out io.Writer, begun time.Time) func(event) {
	return func(e event) {
		who := fmt.Sprintf("worker %d", e.Worker)
		if e.Node != "" {
			who += " at " + short(e.Node)
		}
		say(out, "%.3f %s: %s\n", e.at.Sub(begun).Seconds(), who, e.text)
	}
}

// columns prints for a terminal. The column in the middle has a place for each worker (the first 40, if there are more), and
// shows the lock wander.
func columns(out io.Writer, begun time.Time, workers int, colours bool) func(event) {
	lanes := []rune(strings.Repeat(" ", min(workers, 40)))
	width := max(len(lanes), len("queue"))
	say(out, "\n%7s  %6s  %-*s  %s\n", "seconds", "worker", width, "queue", "node")
	marks := map[string]rune{waiting: '·', acquired: '█', released: ' ', lost: '✗'}
	colour := map[string]string{waiting: "\x1b[2m", acquired: "\x1b[32m", lost: "\x1b[31m", note: "\x1b[31m"}
	return func(e event) {
		if mark, ok := marks[e.Event]; ok && e.Worker <= len(lanes) {
			lanes[e.Worker-1] = mark
		}
		row := fmt.Sprintf("%7.3f  %6d  %-*s  %-15s  %s",
			e.at.Sub(begun).Seconds(), e.Worker, width, string(lanes), short(e.Node), e.text)
		if code := colour[e.Event]; colours && code != "" {
			row = code + row + "\x1b[0m"
		}
		say(out, "%s\n", row)
	}
}

// printer chooses how events are printed: who reads them decides.
func printer(out io.Writer, s settings, begun time.Time) func(event) {
	file, isFile := out.(*os.File)
	switch {
	case s.json:
		return jsonLines(out)
	case !isFile || !isTerminal(file):
		return plain(out, begun)
	default:
		return columns(out, begun, s.workers, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
	}
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// say prints. If that fails nobody is reading, and there is nobody to tell.
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
