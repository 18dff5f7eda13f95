package retry

import (
	"testing"
	"time"
)

func TestPausesOfAPaceGrowToASecond(t *testing.T) {
	for _, c := range []struct {
		short  int
		random float64
		want   time.Duration
	}{
		{0, 0, 0},
		{1, 0, 0},
		{2, 0, 10 * time.Millisecond},
		{2, 0.5, 7500 * time.Microsecond},
		{3, 0, 20 * time.Millisecond},
		{8, 0, 640 * time.Millisecond},
		{9, 0, time.Second},
		{9, 1, 500 * time.Millisecond},
		{100, 0, time.Second},
		{1 << 30, 0, time.Second},
	} {
		if got := pacePause(c.short, c.random); got != c.want {
			t.Errorf("after %d short rounds, at random %v: %v, want %v", c.short, c.random, got, c.want)
		}
	}
}

func TestALongRoundStartsThePaceAnew(t *testing.T) {
	var p Pace
	for range 20 {
		p.Next(0)
	}
	if got := p.Next(999 * time.Millisecond); got < 500*time.Millisecond {
		t.Errorf("a pause of %v after a short round", got)
	}
	if got := p.Next(time.Second); got != 0 {
		t.Errorf("a pause of %v after a long round", got)
	}
	if got := p.Next(0); got < 5*time.Millisecond || got > 10*time.Millisecond {
		t.Errorf("a pause of %v after the next short round", got)
	}
}
