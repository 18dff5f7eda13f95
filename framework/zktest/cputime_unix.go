//go:build unix

package zktest

import (
	"syscall"
	"time"
)

// cpuTime is how long this process has used processors, all its threads together.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
