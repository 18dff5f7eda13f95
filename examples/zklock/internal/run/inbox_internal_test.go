//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"syscall"
	"testing"
	"time"
)

// newPipe is an inbox and the end that orders are written to.
func newPipe(t *testing.T) (*inbox, *os.File) {
	t.Helper()
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(ends[0], true); err != nil {
		t.Fatal(err)
	}
	in, out := os.NewFile(uintptr(ends[0]), "pipe"), os.NewFile(uintptr(ends[1]), "pipe")
	box, err := newInbox(in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out.Close()
		for range box.news { // closed when its goroutine ends
		}
		in.Close()
	})
	return box, out
}

// The keeper was stopped until long after the end of the lease that it knows of, which the front has renewed meanwhile.
func TestKeeperThatGoesOnHearsOfRenewalsBeforeItDecides(t *testing.T) {
	var told bytes.Buffer
	in, out := newPipe(t)
	k := &keeper{
		inbox: in, now: now, out: json.NewEncoder(&told), command: &command{}, plan: plan{grace: time.Second, margin: time.Second},
		family: &family{leader: math.MaxInt32}, // no process has so high a number
	}
	for round := range 100 { // the goroutine of the inbox may read first, or not
		k.s.valid = now() - time.Hour
		lines := json.NewEncoder(out)
		for _, left := range []time.Duration{-time.Minute, time.Hour} {
			if err := lines.Encode(order{Valid: now() + left}); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := k.look(); !ok || told.Len() > 0 || k.killed {
			t.Fatalf("round %d: got the reports %s, want none: nothing is lost", round, told.String())
		}
	}
	k.s.valid = now() - time.Hour
	if k.look(); !k.killed {
		t.Error("the command lives on after the end of its lease")
	}
}

func TestOrdersAreTakenAsOftenAsTheyWereSent(t *testing.T) {
	in, out := newPipe(t)
	for _, c := range []struct {
		text string
		want []order
		gone bool
	}{
		{"", nil, false},
		{`{"Valid":5}` + "\n" + `{"Valid":7}` + "\n" + `{"Signal":2}` + "\n" + `{"St`, []order{{Valid: 7}, {Valid: 7}, {Signal: 2, Valid: 7}}, false},
		{`op":true}`, nil, false},
		{"\n", []order{{Stop: true}}, false},
		{"{\n", nil, true},
	} {
		if _, err := out.WriteString(c.text); err != nil {
			t.Fatal(err)
		}
		got, gone := in.take()
		if gone != c.gone || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %+v, gone %v, want %+v, %v", c.text, got, gone, c.want, c.gone)
		}
	}
	in, out = newPipe(t)
	out.Close()
	if _, gone := in.take(); !gone {
		t.Error("the front is gone, and the inbox does not say so")
	}
}
