//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package run

// keepPrivileges does nothing: a command can gain privileges here, and the keeper notices the refused signal.
func keepPrivileges() {}
