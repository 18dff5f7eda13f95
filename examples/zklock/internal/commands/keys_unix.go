//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package commands

import (
	"os"
	"syscall"
	"unsafe"
)

// onKey calls press when a key is pressed at the terminal on standard input. It returns what gives the terminal its
// settings back. It does nothing in the background of a shell, where a process must not change them.
func onKey(key byte, press func()) (release func()) {
	file := os.Stdin
	var before syscall.Termios
	if !inForeground(file) || !terminalSettings(file, getSettings, &before) {
		return func() {}
	}
	now := before
	now.Lflag &^= syscall.ICANON | syscall.ECHO // keys come without a line's end, and are not shown
	now.Cc[syscall.VMIN], now.Cc[syscall.VTIME] = 1, 0
	terminalSettings(file, putSettings, &now)
	go func() { // ends with the process: nothing ends a read of a terminal
		for buf := make([]byte, 1); ; {
			n, err := file.Read(buf)
			if err != nil || n == 0 {
				return
			}
			if buf[0] == key {
				press()
				return
			}
		}
	}()
	return func() { terminalSettings(file, putSettings, &before) }
}

func terminalSettings(file *os.File, request uintptr, settings *syscall.Termios) (ok bool) {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(unsafe.Pointer(settings)))
	return errno == 0
}

func inForeground(file *os.File) bool {
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno == 0 && int(group) == syscall.Getpgrp()
}
