// Package clock measures time for leases: time that goes on while the machine is suspended.
//
// Go's monotonic clock, and every timer, stands still in suspend, while ZooKeeper's server goes on counting. A lease
// that is compared with such a clock would seem valid after an hour in a closed laptop. A Clock therefore adds what the
// machine has slept since the clock was made.
package clock

import "time"

// A Clock measures the time of one client. Compare its instants with each other only. It is safe for concurrent use.
type Clock struct {
	began     time.Time // by the ordinary clock
	suspended suspension
}

// New returns a clock that begins now.
func New() *Clock {
	return &Clock{began: time.Now(), suspended: newSuspension()}
}

// Now returns the present instant: its monotonic part counts suspend.
func (c *Clock) Now() time.Time {
	now := time.Now()
	return now.Add(c.suspended.until(now.Sub(c.began), c.gap(now)))
}

// Suspended is how long the machine has been suspended since the clock was made.
func (c *Clock) Suspended() time.Duration {
	now := time.Now()
	return c.suspended.until(now.Sub(c.began), c.gap(now))
}

// Wall turns an instant of this clock into one of the ordinary clock, to be shown to users and to be compared with
// time.Now. It goes by how far away the instant is: the wall clock has gone on during suspend, too, so an instant from
// before one must not be moved by it.
func (c *Clock) Wall(instant time.Time) time.Time {
	now := time.Now()
	return now.Add(instant.Sub(now.Add(c.suspended.until(now.Sub(c.began), c.gap(now)))))
}

// gap is by how much the wall clock has outrun the monotonic one since the clock was made.
func (c *Clock) gap(now time.Time) time.Duration {
	return now.Round(0).Sub(c.began.Round(0)) - now.Sub(c.began)
}
