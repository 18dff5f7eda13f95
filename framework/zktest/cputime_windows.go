package zktest

import (
	"syscall"
	"time"
)

// cpuTime is how long this process has used processors, all its threads together.
func cpuTime() time.Duration {
	var created, exited, kernel, user syscall.Filetime
	process, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(process, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return duration(kernel) + duration(user)
}

// duration converts a length of time. Filetime counts units of 100 ns.
func duration(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
