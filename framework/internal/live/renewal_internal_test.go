package live

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

func TestHowLongARenewalMayTake(t *testing.T) {
	for _, c := range []struct {
		pinged, heard bool
		lost          int
		want          time.Duration
	}{
		{true, false, 0, 3 * time.Second},
		{false, false, 0, 8 * time.Second},
		{true, true, 0, 8 * time.Second},
		{true, false, 1, 8 * time.Second},
		{true, true, 1, 8 * time.Second},
		{true, false, 2, 16 * time.Second},
		{false, true, 2, 16 * time.Second},
		{true, false, 3, 32 * time.Second},
	} {
		if got := patience(24*time.Second, c.pinged, c.heard, c.lost); got != c.want {
			t.Errorf("pinged %t, heard %t, lost %d: %v, want %v", c.pinged, c.heard, c.lost, got, c.want)
		}
	}
}

func TestWhatShowsThatAServerAnswersOthers(t *testing.T) {
	sent := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const soon, later = 100 * time.Millisecond, time.Second // the timeout is 32 s
	for name, c := range map[string]struct {
		asked, came time.Duration // after the renewal was sent
		want        bool
	}{
		"none since":                                     {-time.Second, -time.Millisecond, false},
		"one that was on its way":                        {-time.Millisecond, soon, false},
		"that to the ping ahead":                         {0, soon, true},
		"one to a later request":                         {soon, 2 * soon, true},
		"one to an earlier request, long after":          {-time.Millisecond, later, true},
		"one to an earlier request, just not on its way": {-time.Millisecond, 500 * time.Millisecond, true},
	} {
		leases := leaseClock{timeout: 32 * time.Second}
		leases.record(sent.Add(c.asked), sent.Add(c.came))
		r := renewal{sent: sent}
		if got := r.heard(&leases); got.IsZero() == c.want || c.want && !got.Equal(sent.Add(c.came)) {
			t.Errorf("%s: got %v, want an answer: %t", name, got, c.want)
		}
		if got := (&renewal{}).heard(&leases); !got.IsZero() {
			t.Errorf("%s: got %v without a renewal", name, got)
		}
	}
}

// Which renewal an answer is one to, and which is then still under way. Times are seconds after some moment; the
// timeout is 24 s.
func TestWhatAnAnswerLeavesOfARenewal(t *testing.T) {
	at := func(seconds int) time.Time {
		if seconds == 0 {
			return time.Time{}
		}
		return time.Date(2026, 1, 2, 3, 4, seconds, 0, time.UTC)
	}
	const leader, majority = transport.ReachLeader, transport.ReachMajority
	for name, c := range map[string]struct {
		sent, repeated int
		asked          int
		reach          transport.Reach
		answered       bool
		underWay       int
		pinged         bool
	}{
		"none is under way":              {0, 0, 3, majority, false, 0, true},
		"an earlier request's":           {5, 0, 4, majority, false, 5, true},
		"one that reaches less":          {5, 0, 6, leader, false, 5, true},
		"its own":                        {5, 0, 5, majority, true, 0, false},
		"a later request's":              {5, 0, 9, majority, true, 0, false},
		"the first of two":               {5, 7, 5, majority, true, 7, false},
		"another's between the two":      {5, 7, 6, majority, true, 7, false},
		"the second's, the first's lost": {5, 7, 7, majority, true, 0, false},
	} {
		r := renewal{sent: at(c.sent), repeated: at(c.repeated), reach: majority, pinged: true}
		answered := r.answered(at(c.asked), at(c.asked+1), c.reach, 24*time.Second)
		if answered != c.answered || !r.sent.Equal(at(c.underWay)) || r.pinged != c.pinged || !r.repeated.IsZero() && answered {
			t.Errorf("%s: got answered %t and left %+v, want %t, one sent at %v, pinged %t", name, answered, r, c.answered, at(c.underWay), c.pinged)
		}
	}
}

// After a connection was given up, renewals may take longer, until their answers need no more than before.
func TestPatienceEndsWhenAnswersAreFastAgain(t *testing.T) {
	const timeout = 24 * time.Second
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var r renewal
	for range 3 {
		r.gaveUp(start)
	}
	for _, c := range []struct {
		took time.Duration
		lost int
	}{{17 * time.Second, 3}, {15 * time.Second, 2}, {9 * time.Second, 2}, {4 * time.Second, 1}, {2 * time.Second, 0}} {
		r.begin(start, transport.ReachMajority, 0, true)
		if r.answered(start, start.Add(c.took), transport.ReachMajority, timeout); r.lost != c.lost {
			t.Errorf("an answer after %v: got %d connections lost, want %d", c.took, r.lost, c.lost)
		}
	}
}

// Each connection that is given up for a renewal gives the next one more time, up to a bound.
func TestPatienceGrowsWithEachConnectionThatIsGivenUp(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var r renewal
	for n := range 100 {
		r.gaveUp(start)
		want := 8 * time.Second << min(n, mostLost-1)
		if got := r.limit(24*time.Second, 0).Sub(start); got != want {
			t.Fatalf("after %d connections: got %v, want %v", n+1, got, want)
		}
	}
}

// A renewal that was sent too early for what has been heard meanwhile is repeated once.
func TestARenewalIsRepeatedOnce(t *testing.T) {
	leases := leaseClock{quorum: true}
	leases.hear(step{sent: 0, received: 0.01, timeout: 12})
	leases.hear(step{sent: 1, received: 1.5})
	leases.hear(step{sent: 3.9, received: 6.9, reach: transport.ReachMajority}) // slow, and so the next is early
	var r renewal
	r.begin(at(4), transport.ReachMajority, 0, false)
	if due, _ := r.due(at(7), transport.ReachMajority, &leases, 0); !due {
		t.Fatal("got no early renewal, the test needs one")
	}
	r.repeated = at(7)
	if due, next := r.due(at(7.1), transport.ReachMajority, &leases, 0); due || !next.Equal(at(8)) {
		t.Errorf("got a renewal due again %t, and the next look at %v; want none, and 8 s", due, next.Sub(epoch))
	}
}
