package records_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/recipes/locks"
)

// recordOne has a recorder record one hold, which trace reports, and returns its record.
func recordOne(t *testing.T, report func(locks.Trace)) (rec records.Record) {
	t.Helper()
	var written bytes.Buffer
	r := records.NewRecorder(&written, "")
	report(r.Trace(locks.Trace{}))
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	found, err := records.Read(&written, func(one records.Record) error { rec = one; return nil })
	if err != nil || found.Records != 1 || found.Broken > 0 {
		t.Fatalf("got %+v and the error %v, want one record", found, err)
	}
	return rec
}

func TestTheProcessOfEachRecorderIsAnother(t *testing.T) {
	hold := func(trace locks.Trace) { trace.Released(locks.Released{Path: "/l", Node: "n"}) }
	if one, other := recordOne(t, hold), recordOne(t, hold); one.Process == other.Process || one.Process == "" {
		t.Errorf("got %q and %q, want two: the clocks of two recorders are not one", one.Process, other.Process)
	}
}

// A trace that runs late can report a begin that is later than the end by the recorder's clock.
func TestNoHoldEndsBeforeItBegan(t *testing.T) {
	for name, report := range map[string]func(locks.Trace){
		"closed before it began": func(trace locks.Trace) {
			ctx := trace.AcquireStart(context.Background(), locks.AcquireStart{Path: "/l"})
			trace.AcquireEnd(ctx, locks.AcquireEnd{Path: "/l", Node: "n", Token: 1, Session: 1, Waited: time.Hour})
		},
		"held for less than nothing": func(trace locks.Trace) { trace.Released(locks.Released{Path: "/l", Node: "n", Held: -time.Second}) },
	} {
		if got := recordOne(t, report); !got.End.Time.Equal(got.Begin.Time) {
			t.Errorf("%s: got %v to %v, want one time", name, got.Begin.Time, got.End.Time)
		}
	}
}
