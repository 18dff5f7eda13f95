//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package commands

import (
	"cmp"
	"os"
	"syscall"
	"unsafe"
)

// windowRows asks a terminal for its height.
func windowRows(file *os.File) (rows int, ok bool) {
	rows, _, ok = windowSize(file)
	return rows, ok
}

// windowColumns asks a terminal for its width. It is 0 for what is no terminal.
func windowColumns(file *os.File) int {
	_, columns, _ := windowSize(file)
	return columns
}

func windowSize(file *os.File) (rows, columns int, ok bool) {
	var size struct{ rows, columns, _, _ uint16 }
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		return 0, 0, false
	}
	// a terminal that does not report its size has 24 rows of 80 columns
	return int(cmp.Or(size.rows, 24)), int(cmp.Or(size.columns, 80)), true
}
