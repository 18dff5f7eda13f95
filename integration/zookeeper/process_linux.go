package zookeeper

import (
	"errors"
	"syscall"
)

// dieWithParent has the kernel kill the child when the test process ends in whatever way, a panic or a kill -9
// included.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// awaitStopped returns when a child that was sent SIGSTOP has stopped. The signal itself only begins that: until each
// thread has noticed, the server may go on answering. The kernel reports the stop of the last one.
func awaitStopped(pid int) error {
	const idIsPID = 1 // P_PID
	for {
		// WNOWAIT leaves the report where it is, so that waiting for a child that has stopped before succeeds, too.
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idIsPID, uintptr(pid), 0, syscall.WSTOPPED|syscall.WNOWAIT, 0, 0)
		if errno == 0 {
			return nil
		}
		if !errors.Is(errno, syscall.EINTR) {
			return errno
		}
	}
}
