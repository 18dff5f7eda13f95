//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package commands

import "syscall"

// Requests that read and write the settings of a terminal.
const (
	getSettings = syscall.TIOCGETA
	putSettings = syscall.TIOCSETA
)
