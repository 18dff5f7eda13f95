package commands

import "syscall"

// Requests that read and write the settings of a terminal.
const (
	getSettings = syscall.TCGETS
	putSettings = syscall.TCSETS
)
