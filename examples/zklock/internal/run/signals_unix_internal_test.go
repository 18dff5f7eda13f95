//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
)

// As under nohup.
func TestSignalsThatWereIgnoredAtTheStartAreNotHandled(t *testing.T) {
	if !slices.Contains(handled(), os.Signal(syscall.SIGUSR2)) {
		t.Fatal("USR2 is ignored already, want it handled")
	}
	signal.Ignore(syscall.SIGUSR2)
	defer signal.Reset(syscall.SIGUSR2)
	if slices.Contains(handled(), os.Signal(syscall.SIGUSR2)) {
		t.Error("got USR2 handled, want it to stay ignored")
	}
}
