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
