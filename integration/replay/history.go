package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// A section is the history of one simulation.
type section struct {
	test   string
	seed   uint64
	failed bool
	events []event
}

// An event is a line of a history.
type event struct {
	at    time.Duration
	lane  string
	text  string
	fault bool
	line  []byte // as it was written
}

// pattern matches the test of the section alone.
func (s section) pattern() string {
	return "^" + strings.ReplaceAll(s.test, "/", "$/^") + "$"
}

// faults are the lines of the section that are faults.
func (s section) faults() (lines [][]byte) {
	for _, e := range s.events {
		if e.fault {
			lines = append(lines, e.line)
		}
	}
	return lines
}

// sections reads a history. It skips lines that it does not understand: a process that was ended writes half of one.
func sections(history []byte) (all []section) {
	for line := range bytes.Lines(history) {
		var parsed struct {
			Test   string          `json:"test"`
			Seed   uint64          `json:"seed"`
			Failed bool            `json:"failed"`
			At     string          `json:"at"`
			Lane   string          `json:"lane"`
			Text   string          `json:"text"`
			Fault  json.RawMessage `json:"fault"`
		}
		if json.Unmarshal(line, &parsed) != nil {
			continue
		}
		if parsed.Test != "" {
			all = append(all, section{test: parsed.Test, seed: parsed.Seed, failed: parsed.Failed})
			continue
		}
		at, err := time.ParseDuration(parsed.At)
		if err != nil || len(all) == 0 {
			continue
		}
		last := &all[len(all)-1]
		last.events = append(last.events, event{at, parsed.Lane, parsed.Text, parsed.Fault != nil, line})
	}
	return all
}

// failedSection returns the first simulation of a history that failed.
func failedSection(history []byte) (s section, found bool) {
	for _, s := range sections(history) {
		if s.failed {
			return s, true
		}
	}
	return section{}, false
}
