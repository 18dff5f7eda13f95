//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"
)

// revocation is which signal a request to leave becomes.
var revocation = map[string]int{
	"term": int(syscall.SIGTERM), "hup": int(syscall.SIGHUP), "int": int(syscall.SIGINT), "usr1": int(syscall.SIGUSR1), "ignore": 0,
}

// handled are the signals that zklock passes on. TSTP is among them, and goes nowhere: a holder that is stopped loses
// the lock. What was ignored when zklock was started, as by nohup, stays so.
func handled() (all []os.Signal) {
	for _, s := range []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP,
	} {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}

// ignoreStops keeps this process from being stopped at the terminal: by Ctrl-Z, and by reading in the background, which
// fails instead.
func ignoreStops() { signal.Ignore(syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU) }

// foreground returns the group that has the terminal on standard input; false if there is no terminal.
func foreground() (group int, ok bool) {
	var pgrp int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, 0, syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&pgrp)))
	return int(pgrp), errno == 0
}

// takeTerminal gives the terminal to a group. Without ignoring TTOU a process in the background would be stopped for
// it.
func takeTerminal(group int) {
	signal.Ignore(syscall.SIGTTOU)
	pgrp := int32(group)
	// there may be none any more
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, 0, syscall.TIOCSPGRP, uintptr(unsafe.Pointer(&pgrp)))
	signal.Reset(syscall.SIGTTOU)
}
