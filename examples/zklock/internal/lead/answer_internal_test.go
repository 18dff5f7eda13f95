package lead

import (
	"testing"
	"time"
)

func TestPromiseFitsTheSession(t *testing.T) {
	for _, c := range []struct {
		timeout, asked, want time.Duration
		wrong                bool
	}{
		{40 * time.Second, -1, 5 * time.Second, false},
		{16 * time.Second, -1, 2 * time.Second, false},
		{80 * time.Second, -1, 5 * time.Second, false},
		{40 * time.Second, 10 * time.Second, 10 * time.Second, false},
		{40 * time.Second, 10*time.Second + 1, 0, true},
		{40 * time.Second, 0, 0, false},
	} {
		got, err := promiseOf(c.timeout, c.asked)
		if got != c.want || (err != nil) != c.wrong {
			t.Errorf("timeout %v, asked %v: got %v, %v, want %v", c.timeout, c.asked, got, err, c.want)
		}
	}
}
