//go:build !linux

package clock

import (
	"sync"
	"time"
)

var began = time.Now()

var (
	mu sync.Mutex
	// ahead is the most by which the wall clock has been seen to outrun the monotonic one. mu guards it.
	ahead time.Duration
)

// suspended estimates the time slept from the wall clock, which goes on in suspend. Setting the wall clock forward
// ends leases early; setting it back changes nothing, so an error is always on the safe side.
func suspended(now time.Time) time.Duration {
	gap := now.Round(0).Sub(began.Round(0)) - now.Sub(began)
	mu.Lock()
	defer mu.Unlock()
	ahead = max(ahead, gap)
	return ahead
}
