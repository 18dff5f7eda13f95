package clock

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Clock numbers of clock_gettime(2).
const (
	clockMonotonic = 1
	clockBoottime  = 7
)

// A suspension is how long the machine has been suspended since it was made.
type suspension struct {
	before time.Duration // what the machine had slept by then
	since  atomic.Int64  // what is known to have come on top
	last   measurement
}

func newSuspension() suspension { return suspension{before: slept()} }

// until is the suspension at a moment, of which the time since the clock was made and the gap are given. It only grows.
// Two readings of two clocks lie some nanoseconds apart, so less than a millisecond is not sleep. A pause of the
// program between the two looks like sleep, so what looks like it is measured again: a real sleep is seen by every
// later measurement, too.
//
// A measurement takes two system calls. The arguments cost none, and when the machine sleeps the gap moves: as long as
// it has not, the last measurement stands for a moment.
func (s *suspension) until(at, gap time.Duration) time.Duration {
	if s.last.stands(at, gap) {
		return time.Duration(s.since.Load())
	}
	known := s.since.Load()
	for {
		slept := grown(known, func() int64 { return int64(slept() - s.before) })
		if slept == known || s.since.CompareAndSwap(known, slept) {
			s.last.gap.Store(int64(gap))
			s.last.at.Store(int64(at))
			return time.Duration(slept)
		}
		known = s.since.Load()
	}
}

// A measurement is when, and at which gap, it was measured. They are read in the opposite order of their writing, so
// what has been slept is at least as new as either.
type measurement struct{ at, gap atomic.Int64 }

// stands reports whether a measurement would find nothing new: it was taken within the millisecond, and the gap is as
// it was but for what an adjustment of the wall clock can do in that time.
func (m *measurement) stands(at, gap time.Duration) bool {
	age := int64(at) - m.at.Load()
	moved := int64(gap) - m.gap.Load()
	return m.at.Load() != 0 && age >= 0 && age < int64(time.Millisecond) && max(moved, -moved) < int64(100*time.Microsecond)
}

// grown returns what has been slept, given what was known before. A pause can only make a measurement too long.
func grown(known int64, measure func() int64) int64 {
	now := measure()
	for again := 0; now >= known+int64(time.Millisecond); again++ {
		if again == 3 {
			return now
		}
		now = min(now, measure())
	}
	return known
}

// slept returns how long the machine has been suspended since it booted: BOOTTIME counts that, MONOTONIC does not.
func slept() time.Duration {
	monotonic, ok := gettime(clockMonotonic)
	if !ok {
		return 0
	}
	boottime, ok := gettime(clockBoottime)
	if !ok {
		return 0
	}
	return boottime - monotonic
}

func gettime(clock uintptr) (time.Duration, bool) {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano()), errno == 0
}
