package journaltest_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
)

func TestLinesAreReadAsTheyWereWritten(t *testing.T) {
	var kept journaltest.Journal
	var text bytes.Buffer
	written := journaltest.Lines(&text)
	for _, j := range []*journaltest.Journal{&kept, written} {
		j.Of("a").Step(steps.Step{Kind: steps.Granted, Dir: "/d", Node: "n-lock-0000000001", Session: -1 << 62, Names: []string{"x"}, Err: "é\n"})
		j.Transaction(zktest.Transaction{Zxid: 1 << 62, Changes: []zktest.Change{{Kind: zktest.Created, Path: "/d/n", Data: []byte{0, 255}}}})
		j.OrphanFound("a")("/d/n")
		j.Kill(7)
	}
	got, err := journaltest.ReadLines(&text)
	want := kept.Events()
	if err != nil || len(got) != len(want) || len(written.Events()) != 0 || written.Err() != nil {
		t.Fatalf("got %d events, %v, and kept %d (%v), want %d and none", len(got), err, len(written.Events()), written.Err(), len(want))
	}
	for i := range got {
		if got[i].At.IsZero() {
			t.Errorf("event %d: got no time, want one", i)
		}
		got[i].At = want[i].At
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("event %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestReadLinesLeavesOutALastLineThatIsCutOffAndRefusesOthers(t *testing.T) {
	for text, want := range map[string]int{
		"":                                 0,
		`{"Killed":7}`:                     0,
		"{\"Killed\":7}\n{\"Killed\":":     1,
		"{\"Killed\":7}\n{\"Killed\":8}\n": 2,
		"{\"Killed\":\n{\"Killed\":8}\n":   -1,
	} {
		got, err := journaltest.ReadLines(strings.NewReader(text))
		switch {
		case want < 0 && (err == nil || !strings.Contains(err.Error(), "line 1")):
			t.Errorf("%q: got %v, %v, want an error that names line 1", text, got, err)
		case want >= 0 && (err != nil || len(got) != want):
			t.Errorf("%q: got %v, %v, want %d events", text, got, err, want)
		}
	}
}

func TestLinesKeepTheFirstErrorOfWriting(t *testing.T) {
	w := &failing{errs: []error{errors.New("full"), errors.New("fuller"), nil}}
	want := w.errs[0]
	j := journaltest.Lines(w)
	for range w.errs {
		j.Kill(1)
	}
	if got := j.Err(); !errors.Is(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// failing fails with one error after the other.
type failing struct{ errs []error }

func (w *failing) Write(b []byte) (int, error) {
	err := w.errs[0]
	w.errs = w.errs[1:]
	return len(b), err
}
