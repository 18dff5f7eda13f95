package run

import (
	"strings"
	"testing"
	"time"
)

const sec = time.Second

func TestPlanDefaultsFollowTheSessionTimeout(t *testing.T) {
	for _, c := range []struct{ timeout, grace, margin time.Duration }{
		{40 * sec, 5 * sec, sec},
		{10 * sec, 1250 * time.Millisecond, 625 * time.Millisecond},
		{4 * sec, 500 * time.Millisecond, 250 * time.Millisecond},
		{10 * time.Minute, 10 * sec, sec},
	} {
		got, err := newPlan(c.timeout, -1, -1)
		if want := (plan{c.grace, c.margin}); err != nil || got != want {
			t.Errorf("T = %v: got %v, %v, want %v", c.timeout, got, err, want)
		}
	}
}

func TestPlanLongerThanAQuarterOfTheSessionIsRefused(t *testing.T) {
	for _, c := range []struct {
		timeout, grace, margin time.Duration
		refused                bool
	}{
		{40 * sec, 9 * sec, sec, false},
		{40 * sec, 9*sec + 1, sec, true},
		{40 * sec, 20 * sec, -1, true},
		{4 * sec, 0, 0, false},
		{4 * sec, -1, sec, true},
	} {
		_, err := newPlan(c.timeout, c.grace, c.margin)
		if got := err != nil; got != c.refused {
			t.Errorf("T = %v, grace %v, margin %v: refused %v (%v), want %v", c.timeout, c.grace, c.margin, got, err, c.refused)
		}
		if err != nil && !strings.Contains(err.Error(), "-session") {
			t.Errorf("the error does not say what helps: %v", err)
		}
	}
}

func TestPlanSteps(t *testing.T) {
	p := plan{grace: 5 * sec, margin: sec}
	for _, c := range []struct {
		name string
		s    situation
		step step
		wait time.Duration
	}{
		{"health", situation{now: 100 * sec, valid: 130 * sec}, rest, sec / 2},
		{"just before TERM", situation{now: 100 * sec, valid: 106*sec + 1}, rest, 1},
		{"TERM", situation{now: 100 * sec, valid: 106 * sec}, warn, sec / 2},
		{"TERM was sent", situation{now: 100 * sec, valid: 106 * sec, warned: true}, rest, sec / 2},
		{"just before KILL", situation{now: 100 * sec, valid: 101*sec + 1, warned: true}, rest, 1},
		{"KILL", situation{now: 100 * sec, valid: 101 * sec, warned: true}, kill, sec / 2},
		{"a look that comes too late skips TERM", situation{now: 100 * sec, valid: 101 * sec}, kill, sec / 2},
		{"a wake-up after the end", situation{now: 100 * sec, valid: 50 * sec}, kill, sec / 2},
		{"the lease has ended before its time", situation{now: 100 * sec, valid: 130 * sec, over: true}, kill, sec / 2},
		{"stopped, within its grace", situation{now: 100 * sec, valid: 130 * sec, stopped: 96 * sec}, rest, sec / 2},
		{"stopped, its grace has passed", situation{now: 100 * sec, valid: 130 * sec, stopped: 95 * sec}, kill, sec / 2},
		{"stopped, the lease ends first", situation{now: 100 * sec, valid: 101 * sec, stopped: 99 * sec}, kill, sec / 2},
	} {
		if got, wait := p.next(c.s); got != c.step || wait != c.wait {
			t.Errorf("%s: got step %v after which to look in %v, want %v, %v", c.name, got, wait, c.step, c.wait)
		}
	}
}

func TestPlanIsDueForTermThenForKill(t *testing.T) {
	p := plan{grace: 5 * sec, margin: sec}
	for _, c := range []struct {
		name string
		s    situation
		want time.Duration
	}{
		{"health", situation{now: 100 * sec, valid: 130 * sec}, 124 * sec},
		{"TERM was sent", situation{now: 125 * sec, valid: 130 * sec, warned: true}, 129 * sec},
		{"stopped", situation{now: 100 * sec, valid: 130 * sec, stopped: 100 * sec}, 105 * sec},
		{"stopped, the lease ends first", situation{now: 125 * sec, valid: 130 * sec, warned: true, stopped: 125 * sec}, 129 * sec},
		{"the lease has ended", situation{now: 100 * sec, valid: 130 * sec, over: true}, 100 * sec},
	} {
		if got := p.due(c.s); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// A process that looks each half margin is never continued; one that does not is, when there is something to do.
func TestPlanWakesOnlyAProcessThatDoesNotLook(t *testing.T) {
	p := plan{grace: 5 * sec, margin: sec}
	for _, c := range []struct{ due, now, want time.Duration }{
		{124 * sec, 100 * sec, 124 * sec}, {124 * sec, 124 * sec, 125 * sec}, {124 * sec, 200 * sec, 201 * sec},
	} {
		if got := p.wake(c.due, c.now); got != c.want {
			t.Errorf("due at %v, now %v: got %v, want %v", c.due, c.now, got, c.want)
		}
	}
	if got := (plan{}).wake(0, sec); got <= sec+time.Millisecond {
		t.Errorf("no margin: got %v, want later than the next look", got)
	}
}

func TestPlanIsOverdueHalfAMarginBeforeTheEnd(t *testing.T) {
	p := plan{grace: 5 * sec, margin: sec}
	if p.overdue(100*sec, 100*sec+sec/2+1) || !p.overdue(100*sec, 100*sec+sec/2) {
		t.Error("overdue does not begin half a margin before the end of the lease")
	}
}

// A process that looks as often as next says gets TERM within the grace, and KILL a margin before the end, wherever the
// end is.
func FuzzPlanKillsBeforeTheLeaseEnds(f *testing.F) {
	f.Add(uint32(40000), uint32(30000), uint32(0), int32(-1), int32(-1))
	f.Add(uint32(4000), uint32(2500), uint32(900), int32(0), int32(0))
	f.Add(uint32(10000), uint32(5000), uint32(1), int32(2000), int32(400))
	f.Add(uint32(39955), uint32(29897), uint32(0), int32(0), int32(241))
	f.Fuzz(func(t *testing.T, timeoutMS, validMS, stoppedMS uint32, graceMS, marginMS int32) {
		ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
		timeout := ms(int64(timeoutMS % 600_000))
		p, err := newPlan(timeout, ms(int64(graceMS)), ms(int64(marginMS)))
		if err != nil {
			return
		}
		if p.grace+p.margin > timeout/4 {
			t.Fatalf("%v was not refused at T = %v", p, timeout)
		}
		s := situation{now: time.Hour, valid: time.Hour + ms(int64(validMS%600_000)), stopped: time.Duration(stoppedMS)}
		begin, warnedAt := s.now, time.Duration(0)
		for {
			do, again := p.next(s)
			if again <= 0 && do != kill {
				t.Fatalf("looks again after %v", again)
			}
			if do == kill {
				break
			}
			if do == warn {
				s.warned, warnedAt = true, s.now
				if s.now < s.valid-p.grace-p.margin {
					t.Fatalf("TERM %v before the end", s.valid-s.now)
				}
			}
			s.now += again
		}
		if late := s.now - (s.valid - p.margin); late > 0 && s.now != begin {
			t.Fatalf("KILL %v late", late)
		}
		if s.stopped == 0 && warnedAt != 0 && s.now-warnedAt > p.grace {
			t.Fatalf("KILL %v after TERM, with a grace of %v", s.now-warnedAt, p.grace)
		}
	})
}
