package session

import (
	"testing"
	"time"
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
