//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
)

// A process that cannot be signalled ends the command, as TERM to zklock does, once; the keeper reports each change.
func TestRefusedSignalEndsTheCommandOnceAndReportsEachChange(t *testing.T) {
	var told bytes.Buffer
	k := &keeper{now: now, out: json.NewEncoder(&told), plan: plan{grace: time.Second, margin: time.Second}}
	k.s.valid = now() + time.Hour
	var ends []bool
	for _, refused := range [][]string{nil, {"7 (sudo)"}, {"7 (sudo)"}, {"7 (sudo)", "8 (sleep)"}, nil} {
		ends = append(ends, k.refuse(refused))
	}
	if want := []bool{false, true, false, false, false}; !slices.Equal(ends, want) {
		t.Errorf("the command is ended %v, want %v", ends, want)
	}
	k.s.now = k.s.stopped + k.plan.grace
	if step, _ := k.plan.next(k.s); k.s.stopped == 0 || step != kill {
		t.Errorf("got step %v after the grace, want KILL", step)
	}
	var got []string
	for lines := json.NewDecoder(&told); lines.More(); {
		var r report
		if err := lines.Decode(&r); err != nil || r.Refused == nil {
			t.Fatalf("got report %+v, %v, want nothing but who refuses", r, err)
		}
		got = append(got, fmt.Sprint(*r.Refused))
	}
	if want := []string{"[7 (sudo)]", "[7 (sudo) 8 (sleep)]", "[]"}; !slices.Equal(got, want) {
		t.Errorf("got reports %q, want %q", got, want)
	}
}
