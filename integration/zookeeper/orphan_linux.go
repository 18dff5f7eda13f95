package zookeeper

import "syscall"

// dieWithParent has the kernel kill the child when the test process ends in whatever way, a panic or a kill -9 included.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
