package framework

import (
	"testing"
	"time"
)

func TestPausesBetweenSessionsThatEndYoung(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		young   int
		timeout time.Duration
		random  float64
		want    time.Duration
	}{
		{0, 40 * s, 0, 0},
		{1, 40 * s, 0, 0}, // an accident
		{2, 40 * s, 0, 50 * ms},
		{2, 40 * s, 1, 25 * ms},
		{3, 40 * s, 0, 100 * ms},
		{9, 40 * s, 0, 6400 * ms},
		{10, 40 * s, 0, 10 * s},
		{10, 40 * s, 1, 5 * s},
		{1 << 30, 40 * s, 0, 10 * s},
		{10, 4 * s, 0, 2 * s}, // half of a short timeout
		{1 << 30, 4 * s, 0, 2 * s},
		{5, 0, 0, 0}, // never attached
	} {
		if got := betweenSessions(c.young, c.timeout, c.random); got != c.want {
			t.Errorf("betweenSessions(%d, %v, %v) = %v, want %v", c.young, c.timeout, c.random, got, c.want)
		}
	}
}
