//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

func (k *keeper) start(c *command) bool {
	k.command, k.plan = c, plan{c.Grace, c.Margin}
	files := []uintptr{0, 1, 2}
	if c.EmptyStdin {
		null, err := os.Open(os.DevNull)
		if err != nil {
			k.tell(report{Failed: err.Error(), Errno: int(syscall.EIO)})
			return false
		}
		defer null.Close()
		files[0] = null.Fd()
	}
	if c.Foreground {
		signal.Ignore(syscall.SIGTTOU) // otherwise taking the terminal stops the new process; the command inherits it
	}
	if k.now() >= k.s.valid-c.Margin { // the machine was suspended, or this process stopped, meanwhile
		k.tell(report{Failed: "the lease is about to end already", Late: true})
		return false
	}
	if !c.AllowSetuid {
		keepPrivileges()
	}
	k.setAlarm() // first: a keeper that is stopped as soon as it has a command goes on in time
	pid, err := k.fork(c, files)
	if err != nil {
		errno := syscall.EIO
		errors.As(err, &errno)
		k.tell(report{Failed: err.Error(), Errno: int(errno)})
		return false
	}
	k.family = newFamily(pid)
	r := report{Started: pid}
	if k.group != nil {
		r.Dir, r.Group = k.group.dir, k.group.path
	} else {
		r.NoGroup = k.noGroup.Error()
	}
	k.tell(r)
	return true
}

// fork starts the command in a cgroup of its own, or, where there can be none, without. What fails for another reason
// fails again.
func (k *keeper) fork(c *command, files []uintptr) (pid int, err error) {
	attributes := &syscall.ProcAttr{Env: c.Env, Files: files}
	if k.group, k.noGroup = commandCgroup(); k.noGroup == nil {
		fd, err := k.group.open()
		if err == nil {
			attributes.Sys = in(fd, childAttributes(c.Foreground))
			pid, err = syscall.ForkExec(c.Path, c.Args, attributes)
			_ = syscall.Close(fd)
		}
		if err == nil {
			return pid, nil
		}
		k.group.remove()
		k.group, k.noGroup = nil, err
	}
	attributes.Sys = childAttributes(c.Foreground)
	return syscall.ForkExec(c.Path, c.Args, attributes)
}

// died deals with a child that has ended or stopped.
func (k *keeper) died(pid int) {
	leads := pid == k.family.leader && !k.exited
	if leads && !k.command.KeepLeftovers && k.family.ended(pid) {
		k.left(syscall.SIGKILL) // as long as its leader is a zombie, the group has its number to itself
	}
	status, ended := k.family.reap(pid)
	switch {
	case leads && ended:
		k.exited = true
		r := report{Exited: true, Spare: k.s.valid - k.now()}
		if status.Signaled() {
			r.Signal = int(status.Signal())
		} else {
			r.Code = status.ExitStatus()
		}
		k.tell(r)
		if k.command.KeepLeftovers {
			k.left(0)
		}
	case leads && status.Stopped() && status.StopSignal() == syscall.SIGTSTP:
		_ = syscall.Kill(-pid, syscall.SIGCONT) // one that holds a lock and does nothing holds up everybody else
		k.tell(report{Resumed: true})
	}
}

// left names the processes that the command has left behind, and sends them the signal, if there is one.
func (k *keeper) left(sig syscall.Signal) {
	var left []string
	if knowsDescendants {
		left = names(k.family.members())
	}
	if len(left) > 0 {
		k.tell(report{Left: left})
	}
	if sig != 0 {
		k.signal(sig)
	}
}
