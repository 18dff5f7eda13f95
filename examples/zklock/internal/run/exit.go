package run

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Statuses of zklock itself; those of a command are passed on. They lie where sysexits(3) and shells have theirs.
const (
	ExitUsage       = 64  // the command line is wrong
	ExitUnreachable = 69  // no server answers
	ExitSoftware    = 70  // anything without a number of its own
	ExitOrphans     = 71  // processes of a zklock that was killed still run on this machine
	ExitBusy        = 75  // not acquired, with -try or -wait
	ExitUnended     = 76  // the system refuses zklock a signal to a process of the command
	ExitDenied      = 77  // the servers refuse the client, or it lacks a permission
	ExitConfig      = 78  // grace and margin do not fit the session; the path is another kind of lock; no chroot
	ExitLost        = 79  // the lock was lost or about to be, and the command ended for it
	ExitCannotRun   = 126 // the command is there and cannot be run
	ExitNotFound    = 127 // there is no such command
	exitSignal      = 128 // plus the number of the signal
)

// ExitCode returns the status for an error of the library.
func ExitCode(err error) int {
	var connect *framework.ConnectError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, framework.ErrAuthRefused), errors.Is(err, zk.ErrNoAuth):
		return ExitDenied
	case errors.Is(err, locks.ErrOtherRecipe), errors.Is(err, framework.ErrNoChroot), errors.Is(err, framework.ErrInvalidPath):
		return ExitConfig
	case errors.Is(err, locks.ErrNotAcquired):
		return ExitBusy
	case errors.As(err, &connect), errors.Is(err, framework.ErrConnectionLost), errors.Is(err, framework.ErrSessionLost):
		return ExitUnreachable
	default:
		return ExitSoftware
	}
}
