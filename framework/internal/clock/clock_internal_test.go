package clock

import (
	"testing"
	"time"
)

func TestNowFollowsTheOrdinaryClockWhileAwake(t *testing.T) {
	before := Now()
	start := time.Now()
	for time.Since(start) < 2*time.Millisecond {
	}
	if got, ordinary := Now().Sub(before), time.Since(start); got > ordinary+time.Second || got < 2*time.Millisecond {
		t.Errorf("Now moved by %v while time.Now moved by %v", got, ordinary)
	}
}

func TestWallUndoesNow(t *testing.T) {
	if d := time.Until(Wall(Now().Add(time.Hour))); d < 59*time.Minute || d > time.Hour {
		t.Errorf("an instant one hour ahead is shown %v ahead", d)
	}
}
