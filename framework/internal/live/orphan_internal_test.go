package live

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

func TestLookTime(t *testing.T) {
	const timeout = 16 * time.Second
	opened := time.Unix(1000, 0)
	since := opened.Add(1500 * time.Millisecond)
	for look, want := range []time.Duration{1500 * time.Millisecond, 3 * time.Second, 6 * time.Second, 18 * time.Second, 66 * time.Second} {
		if got := lookTime(opened, since, look, timeout).Sub(opened); got != want {
			t.Errorf("look %d: got %v after the opening, want %v", look, got, want)
		}
	}
	if got := lookTime(opened, opened, 1, timeout).Sub(opened); got != time.Second {
		t.Errorf("on the grid: got %v, want a second", got)
	}
	if got := lookTime(time.Time{}, since, 1, 0); !got.Equal(since) {
		t.Errorf("without a timeout: got %v, want %v", got, since)
	}
}

// Names of other clients' nodes are no GUIDs.
func TestGuidOf(t *testing.T) {
	own := protected("n-")
	for name, want := range map[string]string{
		own + "0000000001": own[:39], own: own[:39], "": "", "_c_": "", "lock-0000000001": "", "_c_0123456789abcdef0123456789abcdef-": "",
		"0123456789abcdef0123456789abcdef__lock__0000000001": "",
	} {
		if got := guidOf(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// An overloaded server is not asked faster by a client with a short session timeout.
func TestALookThatAnOverloadedServerRefusesIsRepeatedNoEarlierThanInASecond(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{4 * time.Second: time.Second, 32 * time.Second: 2 * time.Second} {
		s, _ := unconnected()
		a := attachedAt(s.clock.Now())
		a.Timeout = timeout
		s.onAttached(a)
		o := &orphan{dir: "/dir", name: protected("n-")}
		before := s.clock.Now()
		s.Runner.orphans.searched("/dir", []*orphan{o}, nil, nil, transport.Code(-7))
		if pause := o.due.Sub(before); pause < want || pause > want+time.Minute {
			t.Errorf("timeout %v: got the next look in %v, want it in %v", timeout, pause, want)
		}
	}
}
