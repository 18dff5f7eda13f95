package clock

import (
	"testing"
	"time"
)

func TestNowFollowsTheOrdinaryClockWhileAwake(t *testing.T) {
	outer := time.Now()
	clock := New()
	before := clock.Now()
	inner := time.Now()
	for time.Since(inner) < 2*time.Millisecond {
	}
	least := time.Since(inner)
	got := clock.Now().Sub(before)
	most := time.Since(outer)
	const granularity = time.Millisecond
	if got < least-granularity || got > most+granularity {
		t.Errorf("Now moved by %v while time.Now moved by %v to %v", got, least, most)
	}
}

func TestWallUndoesNow(t *testing.T) {
	clock := New()
	if d := time.Until(clock.Wall(clock.Now().Add(time.Hour))); d < 59*time.Minute || d > time.Hour {
		t.Errorf("an instant one hour ahead is shown %v ahead", d)
	}
}
