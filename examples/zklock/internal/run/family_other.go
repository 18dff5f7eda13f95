//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"syscall"
	"time"
)

// knowsDescendants says that only the group is known.
const knowsDescendants = false

// adoptOrphans does nothing: a process that leaves its group escapes here.
func adoptOrphans() {}

// childAttributes are the command's attributes. It outlives a keeper that is killed: only Linux ends a child with its
// parent.
func childAttributes(foreground bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Foreground: foreground}
}

// in does nothing: there are no cgroups.
func in(_ int, attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }

// wait blocks until the child has ended, and then until no process is left in its group.
func (f *family) wait() (pid int, ok bool) {
	if !f.reaped.Load() {
		var status syscall.WaitStatus
		for {
			pid, err := syscall.Wait4(f.leader, &status, 0, nil)
			if err == syscall.EINTR { //nolint:errorlint // it comes as it is
				continue
			}
			f.status = status
			return pid, err == nil
		}
	}
	for syscall.Kill(-f.leader, 0) == nil {
		time.Sleep(20 * time.Millisecond) // no system call waits for strangers
	}
	return 0, false
}

func (f *family) ended(int) bool { return true }

// members are not known here, but for the leader.
func (f *family) members() []process {
	if f.reaped.Load() {
		return nil
	}
	return []process{{pid: f.leader, group: f.leader, name: "the command"}}
}
