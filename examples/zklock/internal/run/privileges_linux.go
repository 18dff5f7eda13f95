package run

import (
	"syscall"
	"unsafe"
)

// Numbers of prctl(2) and capget(2).
const (
	prSetNoNewPrivs = 38
	capKill         = 5 // the bit of CAP_KILL
	capVersion3     = 0x20080522
)

// keepPrivileges has the processes that this thread starts gain no privileges from the programs that they run: sudo,
// su, ping and the like run as the user who starts them, so a signal can end them. It cannot be taken back. A process
// with CAP_KILL may signal every other one, and needs none of this.
//
// It is for the thread that starts the command; the goroutine stays on it.
func keepPrivileges() {
	if mayEndOthers(effectiveCapabilities()) {
		return
	}
	// fails before Linux 3.5 only; then the keeper notices the refused signal
	_, _, _ = syscall.Syscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0)
}

// mayEndOthers reports whether a process with these capabilities may signal the processes of every user.
func mayEndOthers(effective uint32) bool { return effective&(1<<capKill) != 0 }

// effectiveCapabilities are the first 32 of this thread, or none if the system does not show them.
func effectiveCapabilities() uint32 {
	header := struct {
		version uint32
		pid     int32 // 0: this thread
	}{version: capVersion3}
	var data [2]struct{ effective, permitted, inheritable uint32 }
	_, _, errno := syscall.Syscall(syscall.SYS_CAPGET,
		uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0)
	if errno != 0 {
		return 0
	}
	return data[0].effective
}
