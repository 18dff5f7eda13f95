//go:build linux

package clock

import (
	"testing"
	"time"
)

func TestAPauseBetweenTwoReadingsIsNoSleep(t *testing.T) {
	measured := []time.Duration{5 * time.Millisecond, 100, 200}
	if got := growth(0, measured); got != 0 {
		t.Errorf("a pause of %v counts as %v of sleep", measured[0], got)
	}
}

func TestSleepIsSeenThroughPauses(t *testing.T) {
	measured := []time.Duration{time.Hour + 9*time.Millisecond, time.Hour + 100, time.Hour + 7*time.Millisecond, time.Hour + 300}
	if got := growth(time.Minute, measured); got != time.Hour+100 {
		t.Errorf("an hour of sleep counts as %v", got)
	}
}

func TestSleepNeverShrinks(t *testing.T) {
	if got := growth(time.Hour, []time.Duration{time.Minute}); got != time.Hour {
		t.Errorf("after an hour of sleep, a measurement of a minute counts as %v", got)
	}
}

func growth(known time.Duration, measured []time.Duration) time.Duration {
	i := -1
	return time.Duration(grown(int64(known), func() int64 {
		i++
		return int64(measured[i])
	}))
}

func TestAMeasurementStandsForAMomentUnlessTheWallClockMoves(t *testing.T) {
	const at, gap = time.Hour, time.Minute
	var m measurement
	if m.stands(0, 0) {
		t.Error("got a measurement that stands although nothing was measured, want none")
	}
	m.at.Store(int64(at))
	m.gap.Store(int64(gap))
	for _, test := range []struct {
		at, gap time.Duration
		want    bool
	}{
		{at, gap, true},
		{at + 999*time.Microsecond, gap + time.Microsecond, true},
		{at + 999*time.Microsecond, gap - time.Microsecond, true},
		{at + time.Millisecond, gap, false},
		{at - 1, gap, false}, // another one was faster
		{at + 1, gap + 100*time.Microsecond, false},
		{at + 1, gap - 100*time.Microsecond, false},
		{at + 1, gap + time.Hour, false}, // what a sleep looks like
	} {
		if got := m.stands(test.at, test.gap); got != test.want {
			t.Errorf("%v later, %v apart: %v", test.at-at, test.gap-gap, got)
		}
	}
}
