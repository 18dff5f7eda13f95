//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"errors"
	"time"
)

// A cgroup is Linux's.
type cgroup struct{ dir, path string }

func commandCgroup() (*cgroup, error)   { return nil, errors.New("this system has no cgroups") }
func (*cgroup) kill() bool              { return false }
func (*cgroup) has(procfs, int) bool    { return false }
func (*cgroup) remove() bool            { return true }
func (*cgroup) open() (int, error)      { return 0, errors.New("this system has no cgroups") }
func strangers(time.Duration) []process { return nil }
