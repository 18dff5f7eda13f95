//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// newRefusedFront is a front that writes events as JSON lines, with a process that it may not signal.
func newRefusedFront(living ...string) (f *front, events *bytes.Buffer) {
	events = &bytes.Buffer{}
	f = &front{
		teller: &teller{errs: io.Discard, status: events}, job: &job{lostCode: 99}, orders: json.NewEncoder(io.Discard),
		plan: plan{grace: time.Second, margin: time.Second}, valid: now() + time.Hour, hangUp: func() {},
	}
	if len(living) > 0 {
		f.heard(report{Refused: &living}, true)
	}
	return f, events
}

func TestKillIsNotToldOfWhatItCannotReach(t *testing.T) {
	for name, c := range map[string]struct {
		living []string
		want   string
	}{"all can be signalled": {nil, "killed"}, "one cannot": {[]string{"7 (sudo)"}, "unended"}} {
		f, events := newRefusedFront(c.living...)
		events.Reset()
		f.heard(report{Killed: true, Spare: time.Minute}, true)
		var got Event
		if err := json.Unmarshal(events.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Event != c.want || strings.Join(got.Processes, " ") != strings.Join(c.living, " ") {
			t.Errorf("%s: got %+v, want event %s with processes %v", name, got, c.want, c.living)
		}
	}
}

// Also if the process has ended at last, and the lease was lost.
func TestRefusedSignalIsAStatusOfItsOwn(t *testing.T) {
	f, _ := newRefusedFront("7 (sudo)")
	f.heard(report{Refused: &[]string{}}, true)
	f.heard(report{Exited: true}, true)
	f.lost = true
	if got := f.status(); got != 76 {
		t.Errorf("got status %d, want 76", got)
	}
}

func TestWhatMayRunBesideTheNextHolderIsToldOnceInEachOutage(t *testing.T) {
	f, events := newRefusedFront("7 (sudo)")
	count := func() int { return strings.Count(events.String(), `"event":"beside"`) }
	for i, c := range []struct {
		left time.Duration
		over bool
		want int
	}{{time.Hour, false, 0}, {time.Second, false, 1}, {time.Second, false, 1}, {time.Hour, false, 1}, {time.Hour, true, 2}} {
		f.valid, f.over = now()+c.left, c.over
		if f.tellBeside(); count() != c.want {
			t.Errorf("look %d: got %d reports, want %d", i, count(), c.want)
		}
	}
	f, events = newRefusedFront()
	f.over = true
	if f.tellBeside(); count() != 0 {
		t.Error("got a report although everything can be ended")
	}
}

func TestSecondSignalLeavesWhatCannotBeEnded(t *testing.T) {
	for name, c := range map[string]struct {
		living  []string
		before  []os.Signal // the process is found after these
		signals []os.Signal
		want    bool
	}{
		"one":                              {[]string{"7 (sudo)"}, nil, []os.Signal{syscall.SIGTERM}, false},
		"two":                              {[]string{"7 (sudo)"}, nil, []os.Signal{syscall.SIGINT, syscall.SIGTERM}, true},
		"TERM, found by it, and another":   {[]string{"7 (sudo)"}, []os.Signal{syscall.SIGTERM}, []os.Signal{syscall.SIGTERM}, true},
		"INT is the command's, until then": {[]string{"7 (sudo)"}, []os.Signal{syscall.SIGINT}, []os.Signal{syscall.SIGINT}, false},
		"signals that end nothing":         {[]string{"7 (sudo)"}, nil, []os.Signal{syscall.SIGUSR1, syscall.SIGUSR1}, false},
		"all can be ended":                 {nil, nil, []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, false},
	} {
		f, _ := newRefusedFront()
		for _, s := range c.before {
			f.pass(s)
		}
		if len(c.living) > 0 {
			f.heard(report{Refused: &c.living}, true)
		}
		for _, s := range c.signals {
			f.pass(s)
		}
		if f.abandoned != c.want {
			t.Errorf("%s: zklock ends beside the process %v, want %v", name, f.abandoned, c.want)
		}
	}
}
