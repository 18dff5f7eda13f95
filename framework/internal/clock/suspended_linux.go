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

// suspended only grows. Two readings of two clocks lie some nanoseconds apart, so less than a millisecond is not sleep; a
// pause of the program between the two looks like sleep, which can end a lease early and never late.
func suspended() time.Duration {
	known := since.Load()
	for {
		now := int64(slept() - sleptBefore)
		if now < known+int64(time.Millisecond) {
			return time.Duration(known)
		}
		if since.CompareAndSwap(known, now) {
			return time.Duration(now)
		}
		known = since.Load()
	}
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
