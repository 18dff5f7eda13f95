//go:build unix

package zookeeper

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gocurator/curator/framework/zktest/await"
)

// A reporter hears of failures: the test, or the command that runs an ensemble.
type reporter interface {
	Errorf(format string, args ...any)
}

// lateError says that something did not happen within its limit.
type lateError struct{ text string }

func (e *lateError) Error() string { return e.text }
func (e *lateError) Timeout() bool { return true }

// isLate reports whether the error says that the time was up.
func isLate(err error) bool {
	var e interface{ Timeout() bool }
	return errors.As(err, &e) && e.Timeout()
}

// fail reports err. That the time was up is a failure of package await to a test.
func fail(t reporter, err error) {
	tb, isTest := t.(testing.TB)
	if isTest {
		tb.Helper()
	}
	if isTest && isLate(err) {
		await.Errorf(tb, "ZooKeeper: %v", err)
		return
	}
	t.Errorf("zookeeper: %v", err)
}

// dump prints the end of a server's log if the test has failed. It prints no file and line, as a message of its own
// would: after a failure that is only late, a script would take that for a failure of another kind.
func dump(t reporter, server, logFile string) {
	if tb, isTest := t.(testing.TB); isTest && tb.Failed() {
		_, _ = fmt.Fprintf(tb.Output(), "the log of %s ends:\n%s\n", server, logTail(logFile))
	}
}
