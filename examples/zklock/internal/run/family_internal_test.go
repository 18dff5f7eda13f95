//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"slices"
	"syscall"
	"testing"
)

func TestAProcessRefusesOnlyIfTheSystemForbidsTheSignal(t *testing.T) {
	answers := map[int]error{1: syscall.EPERM, 2: syscall.ESRCH, 3: nil, 4: syscall.EPERM}
	all := []process{{pid: 1}, {pid: 2}, {pid: 3}, {pid: 4}}
	var got []int
	for _, p := range whoRefuses(all, func(p process) error { return answers[p.pid] }) {
		got = append(got, p.pid)
	}
	if want := []int{1, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
