//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

// The front gets a signal after its keeper has stopped taking orders: the signal has no receiver.
func TestSignalBehindTheEndOfTheCommandEndsMinHold(t *testing.T) {
	for _, c := range []struct {
		signal     syscall.Signal
		gone, want bool
	}{{syscall.SIGTERM, true, true}, {syscall.SIGINT, true, true}, {syscall.SIGTERM, false, false}, {syscall.SIGUSR1, true, false}} {
		f := &front{orders: json.NewEncoder(io.Discard), gone: c.gone}
		if f.pass(c.signal); f.noLinger != c.want {
			t.Errorf("%v, nothing remains %v: got %v, want %v", c.signal, c.gone, f.noLinger, c.want)
		}
	}
}

// A keeper that is stopped from before the time of the warning until after that of KILL sends KILL at once.
func TestACommandThatIsKilledForItsLeaseIsLostWithAWarningOrWithout(t *testing.T) {
	const margin = time.Second
	killed := syscall.SIGKILL
	for name, c := range map[string]struct {
		reports []report
		want    int
	}{
		"warned":          {[]report{{Warned: true, Spare: 3 * margin}, {Killed: true, Spare: margin}}, 99},
		"without warning": {[]report{{Killed: true, Spare: margin}}, 99},
		"far too late":    {[]report{{Killed: true, Spare: -margin}}, 99},
		"after a stop":    {[]report{{Killed: true, Spare: 2 * margin}}, exitSignal + int(killed)},
	} {
		f := &front{
			teller: &teller{errs: io.Discard}, job: &job{lostCode: 99}, plan: plan{margin: margin}, orders: json.NewEncoder(io.Discard),
		}
		for _, r := range append(c.reports, report{Exited: true, Signal: int(killed)}, report{Gone: true}) {
			f.heard(r, true)
		}
		if got := f.status(); got != c.want {
			t.Errorf("%s: got status %d, want %d", name, got, c.want)
		}
	}
}

func TestWhatWasLateIsSaidToBeLate(t *testing.T) {
	for left, want := range map[time.Duration]string{
		16566 * time.Millisecond:    "16.566s before the lock ends",
		-16566 * time.Millisecond:   "16.566s after the lock had ended",
		-16566567 * time.Nanosecond: "17ms after the lock had ended",
		0:                           "0s after the lock had ended",
	} {
		if got := spared(left); got != want {
			t.Errorf("%v: got %q, want %q", left, got, want)
		}
	}
}

// The time before KILL is for the command's own end: one that succeeds in it has done its work under the lock.
func TestACommandThatEndsAfterAWarningIsLostUnlessItSucceeds(t *testing.T) {
	for name, c := range map[string]struct {
		end  report
		want int
	}{
		"success":       {report{Exited: true}, 0},
		"failure":       {report{Exited: true, Code: 3}, 99},
		"ended by TERM": {report{Exited: true, Signal: int(syscall.SIGTERM)}, 99},
	} {
		f := &front{teller: &teller{errs: io.Discard}, job: &job{lostCode: 99}}
		for _, r := range []report{{Warned: true, Spare: time.Second}, c.end, {Gone: true}} {
			f.heard(r, true)
		}
		if got := f.status(); got != c.want {
			t.Errorf("%s: got status %d, want %d", name, got, c.want)
		}
	}
}

// A command that has survived an outage is not ended any more: how it ends later is its own.
func TestACommandThatFailsAfterTheServersHaveAnsweredAgainIsNotLost(t *testing.T) {
	f := &front{teller: &teller{errs: io.Discard}, job: &job{lostCode: 99}, orders: json.NewEncoder(io.Discard)}
	f.heard(report{Warned: true, Spare: time.Second}, true)
	f.extend(&heldUp{left: time.Hour}, order{})
	for _, r := range []report{{Exited: true, Code: 3}, {Gone: true}} {
		f.heard(r, true)
	}
	if got, want := f.status(), 3; got != want {
		t.Errorf("got status %d, want %d", got, want)
	}
}

// The lease may end, and the keeper's end be noticed, while its last reports are still to be read.
func TestCommandThatDoesNotStartHasTheStatusOfAShell(t *testing.T) {
	late, missing, locked := report{Late: true}, report{Errno: int(syscall.ENOENT)}, report{Errno: int(syscall.EACCES)}
	if got := [...]int{startCode(late), startCode(missing), startCode(locked)}; got != [...]int{79, 127, 126} {
		t.Errorf("got %d, want 79 if it is late, 127 if it is missing, 126 if it may not be run", got)
	}
}

func TestTheEndOfTheKeeperIsJudgedByItsLastReports(t *testing.T) {
	var told bytes.Buffer
	f := &front{
		teller: &teller{errs: io.Discard, status: &told}, job: &job{}, orders: json.NewEncoder(io.Discard),
		started: true, exited: true, unkept: true, reports: make(chan report),
		family: &family{leader: math.MaxInt32}, // no process has so high a number
	}
	f.judge()
	f.heard(report{Gone: true}, true)
	f.heard(report{}, false)
	f.end(locks.ErrLeaseLost)
	if got := told.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"event":"gone"`) || f.lost {
		t.Errorf("got the events %s and a loss %v, want gone alone and none", got, f.lost)
	}
}

// A held-up lease lets time pass between two readings of the clock, as a suspended machine does.
type heldUp struct{ asked, left time.Duration }

func (l *heldUp) ValidUntil() time.Time {
	for l.asked = now(); now() < l.asked+time.Millisecond; {
	}
	return time.Now().Add(l.left)
}

func (*heldUp) Err() error { return nil }

func TestTheKeeperHearsOfAnEndThatIsTooEarlyRatherThanTooLate(t *testing.T) {
	var sent bytes.Buffer
	f := &front{orders: json.NewEncoder(&sent)}
	lease := &heldUp{left: time.Hour}
	f.extend(lease, order{})
	var got order
	if err := json.Unmarshal(sent.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if latest := lease.asked + lease.left; got.Valid > latest || got.Valid < latest-time.Hour {
		t.Errorf("got a lease until %v, want at most %v: what passes between the readings is not added", got.Valid, latest)
	}
}
