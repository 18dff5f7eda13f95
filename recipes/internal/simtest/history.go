package simtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

var (
	historyFile = flag.String("history", "", "append what happened in a simulation that failed, or was asked for by its seed, to this `file`, as JSON lines")
	faultsFile  = flag.String("faults", "", "have stormy simulations suffer exactly the faults of this `file`, which may be a history")
)

// A run heads the lines of one simulation in a history.
type run struct {
	Test   string `json:"test"`
	Seed   uint64 `json:"seed"`
	Failed bool   `json:"failed"`
}

// An event is a line of a history.
type event struct {
	At    span   `json:"at"` // since the simulation began
	Lane  string `json:"lane"`
	Text  string `json:"text"`
	Fault *Fault `json:"fault,omitempty"`
}

// String is the event for people.
func (e event) String() string {
	return fmt.Sprintf("%s %s %s", time.Time{}.Add(time.Duration(e.At)).Format("04:05.000000"), e.Lane, e.Text)
}

// A span is a duration that reads "1.5s" in JSON.
type span time.Duration

// MarshalText writes the span as a duration prints.
func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = span(d)
	return err
}

// Note writes a line of the history. The lane is the actor that it is about, such as server0, or A0 for the first actor
// of client A.
func (e *Env) Note(lane, format string, args ...any) {
	e.add(event{Lane: lane, Text: fmt.Sprintf(format, args...)})
}

func (e *Env) add(happened event) { e.addAt(time.Now(), happened) }

// addAt puts an event behind those that happened before it or at the same time.
func (e *Env) addAt(at time.Time, happened event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	happened.At = span(at.Sub(e.start))
	i := len(e.events)
	for i > 0 && e.events[i-1].At > happened.At {
		i--
	}
	e.events = slices.Insert(e.events, i, happened)
}

// LogHistory writes the history to the file that -history names, or logs it, and logs how to try the seed again.
func (e *Env) LogHistory(dir string) {
	e.T.Helper()
	if *historyFile != "" {
		if err := e.appendHistory(*historyFile); err != nil {
			e.T.Errorf("seed %d: write the history: %v", e.Seed, err)
		}
		return
	}
	lines := make([]string, len(e.events))
	for i, happened := range e.events {
		lines[i] = happened.String()
	}
	e.T.Logf("history:\n%s", strings.Join(lines, "\n"))
	pattern := "^" + strings.ReplaceAll(e.T.Name(), "/", "$/^") + "$"
	e.T.Logf("try again with: go test %s -run '%s' -seed %d -count 20", dir, pattern, e.Seed)
	e.T.Logf("or under schedules that are exact: go run -C integration ./replay github.com/gocurator/curator/%s -run '%s' -seed %d",
		strings.TrimPrefix(dir, "./"), pattern, e.Seed)
}

func (e *Env) appendHistory(name string) error {
	var lines bytes.Buffer
	to := json.NewEncoder(&lines)
	to.SetEscapeHTML(false)
	if err := to.Encode(run{e.T.Name(), e.Seed, e.T.Failed()}); err != nil {
		return err
	}
	for _, happened := range e.events {
		if err := to.Encode(happened); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(lines.Bytes())
	return errors.Join(err, f.Close())
}

// readFaults returns the faults of a history, in their order. Its other lines are skipped.
func readFaults(name string) ([]event, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	faults := []event{}
	for from := json.NewDecoder(f); ; {
		var happened event
		switch err := from.Decode(&happened); {
		case errors.Is(err, io.EOF):
			return faults, nil
		case err != nil:
			return nil, fmt.Errorf("read the faults of %s: %w", name, err)
		case happened.Fault != nil:
			faults = append(faults, happened)
		}
	}
}
