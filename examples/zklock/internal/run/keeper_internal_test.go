//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	realtime "github.com/gocurator/curator/framework/zktest/await"
)

// The servers answer after the warning, and fall silent again: the command survived one TERM, and gets another.
func TestKeeperWarnsOnceInEachOutage(t *testing.T) {
	const long = time.Hour // nothing else is due while the test runs
	var told bytes.Buffer
	k := &keeper{
		now: now, out: json.NewEncoder(&told), command: &command{}, plan: plan{grace: long, margin: long},
		family: &family{leader: math.MaxInt32}, // no process has so high a number
	}
	extend := func(left time.Duration) {
		k.obey(order{Valid: now() + left})
		for range 2 { // a second look finds nothing new
			k.s.now = now()
			k.act()
		}
	}
	var got []int
	for range 2 {
		extend(3 * long)
		extend(2 * long)
		warnings := 0
		for lines := json.NewDecoder(&told); lines.More(); {
			var r report
			if err := lines.Decode(&r); err != nil {
				t.Fatal(err)
			}
			if !r.Warned {
				t.Errorf("got report %+v, want nothing but warnings", r)
			}
			warnings++
		}
		got = append(got, warnings)
	}
	if want := []int{1, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v warnings in two outages, want %v", got, want)
	}
}

// The keeper is stopped between its look at the orders and what it does by them, until TERM would be due by the lease
// that it knows of. The front renews the lease meanwhile.
func TestKeeperThatIsStoppedAfterItTookTheOrdersTakesThemAgain(t *testing.T) {
	var told bytes.Buffer
	in, out := newPipe(t)
	lines := json.NewEncoder(out)
	say := func(valid time.Duration) {
		if err := lines.Encode(order{Valid: valid}); err != nil {
			t.Error(err)
		}
	}
	k := &keeper{
		inbox: in, out: json.NewEncoder(&told), command: &command{}, plan: plan{grace: time.Second, margin: 6 * time.Second},
		family: &family{leader: math.MaxInt32}, // no process has so high a number
	}
	const first, renewed = 21 * time.Second, 35 * time.Second
	k.now = func() time.Duration {
		switch k.s.valid {
		case 0: // it knows of no lease yet, and has not looked at the orders
			say(first)
			return 0
		case first: // it is stopped, and goes on
			say(renewed)
		}
		return 15 * time.Second
	}
	again, ok := k.look()
	if !ok || told.Len() > 0 || again != 0 {
		t.Fatalf("got the reports %q, and the next look after %v, want none and at once", told.String(), again)
	}
	if again, ok = k.look(); !ok || told.Len() > 0 || k.s.valid != renewed || again == 0 {
		t.Errorf("got the reports %q, a lease until %v and the next look after %v, want none, %v and later",
			told.String(), k.s.valid, again, renewed)
	}
}

func TestASecondTermToZklockDoesNotLengthenTheGrace(t *testing.T) {
	var clock time.Duration
	k := &keeper{
		now: func() time.Duration { return clock }, out: json.NewEncoder(io.Discard), command: &command{},
		family: &family{leader: math.MaxInt32}, // no process has so high a number
	}
	for _, clock = range []time.Duration{5 * time.Second, 7 * time.Second} {
		k.obey(order{Stop: true})
	}
	if got, want := k.s.stopped, 5*time.Second; got != want {
		t.Errorf("got a grace from %v on, want it from %v on", got, want)
	}
}

// A signal is a reason to look: SIGCONT says that the process may have been stopped after it set its timer.
func TestKeeperThatGoesOnLooksThoughItsTimerIsFarAway(t *testing.T) {
	in, _ := newPipe(t)
	reports, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reports.Close(); w.Close() })
	var clock atomic.Int64
	k := &keeper{
		inbox: in, out: json.NewEncoder(w), command: &command{}, plan: plan{grace: time.Hour, margin: time.Hour},
		family: &family{leader: math.MaxInt32, events: make(chan int)}, probed: true,
		now: func() time.Duration { return time.Duration(clock.Load()) },
	}
	k.s.valid = 10 * time.Hour
	signals, ended := make(chan os.Signal), make(chan struct{})
	go func() { k.run(signals); close(ended) }()
	go func() {
		signals <- syscall.SIGWINCH
		signals <- syscall.SIGWINCH // taken after the look for the first
		clock.Store(int64(9 * time.Hour))
		signals <- syscall.SIGCONT
	}()
	told := make(chan report, 1)
	go func() {
		var r report
		_ = json.NewDecoder(reports).Decode(&r)
		told <- r
	}()
	if r := realtime.Receive(t, 10*time.Second, "a report", told); !r.Killed {
		t.Errorf("got the report %+v, want KILL", r)
	}
	close(k.family.events)
	realtime.Receive(t, 10*time.Second, "the keeper to end", ended)
}
