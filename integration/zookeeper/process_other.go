//go:build unix && !linux

package zookeeper

import "syscall"

// dieWithParent can do nothing here: only the cleanup of the test ends the child.
func dieWithParent() *syscall.SysProcAttr { return nil }

// awaitStopped can do nothing here: a server may go on for a moment after Freeze.
func awaitStopped(int) error { return nil }
