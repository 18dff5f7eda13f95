//go:build unix && !linux

package zookeeper

import "syscall"

// dieWithParent can do nothing here: only the cleanup of the test ends the child.
func dieWithParent() *syscall.SysProcAttr { return nil }
