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

// sleptBefore is what the machine had slept when the program began, and since what is known to have come on top.
var (
	sleptBefore = slept()
	since       atomic.Int64
)

// suspended only grows. Two readings of two clocks lie some nanoseconds apart, so less than a millisecond is not sleep. A
// pause of the program between the two looks like sleep, so what looks like it is measured again: a real sleep is seen by
// every later measurement, too.
func suspended() time.Duration {
	known := since.Load()
	for {
		now := grown(known, func() int64 { return int64(slept() - sleptBefore) })
		if now == known || since.CompareAndSwap(known, now) {
			return time.Duration(now)
		}
		known = since.Load()
	}
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
