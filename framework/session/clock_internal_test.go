package session

import (
	"testing"
	"time"
)

func TestHowLongARenewalMayTake(t *testing.T) {
	for _, c := range []struct {
		pinged, heard, patient bool
		want                   time.Duration
	}{
		{true, false, false, 3 * time.Second},
		{false, false, false, 8 * time.Second},
		{true, true, false, 8 * time.Second},
		{true, false, true, 8 * time.Second},
		{true, true, true, 8 * time.Second},
	} {
		if got := renewalPatience(24*time.Second, c.pinged, c.heard, c.patient); got != c.want {
			t.Errorf("pinged %t, heard %t, patient %t: %v, want %v", c.pinged, c.heard, c.patient, got, c.want)
		}
	}
}
