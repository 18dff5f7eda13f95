// Package clock tells time for leases: time that goes on while the machine is suspended.
//
// Go's monotonic clock, and every timer, stands still in suspend, while ZooKeeper's server goes on counting. A lease that is
// compared with such a clock would seem valid after an hour in a closed laptop. Now therefore adds what the machine has
// slept since the program began.
package clock

import "time"

// Now returns the present instant, for comparison with other results of Now only: its monotonic part counts suspend.
func Now() time.Time {
	now := time.Now()
	return now.Add(suspended(now))
}

// Wall turns an instant of this clock into one of the ordinary clock, to be shown to users and to be compared with time.Now.
func Wall(instant time.Time) time.Time {
	return instant.Add(-suspended(time.Now()))
}
