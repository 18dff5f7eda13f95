//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package commands

import (
	"os"
	"syscall"
	"unsafe"
)

// windowRows asks a terminal for its height.
func windowRows(file *os.File) (rows int, ok bool) {
	var size struct{ rows, columns, _, _ uint16 }
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		return 0, false
	}
	if size.rows == 0 {
		return 24, true // a terminal that does not tell
	}
	return int(size.rows), true
}
