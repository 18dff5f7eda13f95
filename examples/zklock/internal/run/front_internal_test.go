//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"encoding/json"
	"io"
	"syscall"
	"testing"
	"time"
)

// The front hears of a signal while it takes leave of its keeper: nobody is there to take it.
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
