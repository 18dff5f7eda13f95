package run

import (
	"syscall"
	"time"
	"unsafe"
)

const clockBoottime = 7 // a clock of clock_gettime(2) that goes on while the machine is suspended

// now is the time of a clock that all processes of this machine share, and that goes on while it is suspended.
func now() time.Duration {
	var at syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&at)), 0); errno != 0 {
		panic(errno) // Linux has this clock since 2.6.39
	}
	return time.Duration(at.Nano())
}
