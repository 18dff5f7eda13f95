//go:build unix

package main

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// A small run of the whole, so that the command works when it is needed. Its figures say nothing.
func TestTheCommandMeasures(t *testing.T) {
	if os.Getenv("CURATOR_INTEGRATION") != "required" {
		t.Skip("CURATOR_INTEGRATION is not required: not starting real servers")
	}
	var wrong []string
	// The second is for a machine that is too busy for the first.
	for _, window := range []time.Duration{300 * time.Millisecond, 10 * time.Second} {
		p := plan{holders: 5, rounds: 1, window: window}
		if err := p.parse("4s", t.TempDir(), ""); err != nil {
			t.Fatal(err)
		}
		if wrong = p.missing(t); len(wrong) == 0 {
			break
		}
	}
	for _, text := range wrong {
		t.Error(text)
	}
	for _, wrong := range []plan{{rounds: 1, window: 1}, {holders: 1, window: 1}, {holders: 1, rounds: 1}} {
		if wrong.parse("4s", "", "") == nil {
			t.Errorf("%+v was not refused", wrong)
		}
	}
	if (&plan{holders: 1, rounds: 1, window: 1}).parse("soon", "", "") == nil {
		t.Error("a timeout that is none was not refused")
	}
}

// missing measures, and names the figures that are missing.
func (p *plan) missing(t *testing.T) (wrong []string) {
	t.Helper()
	r, err := p.measure(t.Context(), p.places[0], p.timeouts[0])
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range []string{noHolder, byLeader, byQuorum} {
		if row := r.rows[name]; len(row.writes) != 1 || row.writes[0] <= 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %+v", name, row))
		}
	}
	if r.rows[byQuorum].renewals[0] <= 0 {
		wrong = append(wrong, fmt.Sprintf("no renewal by transactions was counted: %+v", r.rows[byQuorum]))
	}
	return wrong
}
