//go:build !linux

package clock

import (
	"sync/atomic"
	"time"
)

// A suspension is how long the machine has been suspended since it was made: the most by which the wall clock has been
// seen to outrun the monotonic one.
type suspension struct{ most atomic.Int64 }

func newSuspension() suspension { return suspension{} }

// until estimates the suspension from the wall clock, which goes on in suspend. Setting the wall clock forward ends
// leases early; setting it back changes nothing, so an error is always on the safe side.
func (s *suspension) until(_, gap time.Duration) time.Duration {
	for {
		most := s.most.Load()
		if int64(gap) <= most || s.most.CompareAndSwap(most, int64(gap)) {
			return time.Duration(max(most, int64(gap)))
		}
	}
}
