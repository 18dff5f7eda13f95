package observability

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// outcomes are what Outcome returns.
var outcomes = []string{"acquired", "reentered", "not_acquired", "timeout", "canceled", "error"}

// Outcome is how an acquire ended, in a few words: the values of lock.outcome.
func Outcome(end locks.AcquireEnd) string {
	switch {
	case end.Err == nil && end.Reentered:
		return "reentered"
	case end.Err == nil:
		return "acquired"
	case errors.Is(end.Err, locks.ErrNotAcquired):
		return "not_acquired"
	case errors.Is(end.Err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(end.Err, context.Canceled):
		return "canceled"
	default:
		return "error"
	}
}

// otherReason is a loss that none of reasons explains.
const otherReason = "other"

var reasons = []struct {
	err  error // nil: anything else
	text string
}{
	{locks.ErrRemoved, "removed"},
	{framework.ErrClosed, "closed"},
	{framework.ErrNotRenewed, "lapsed"},
	{framework.ErrSuspended, "suspended"},
	{framework.ErrSessionLost, "session"},
	{nil, otherReason},
}

// Reason is why a lock was lost, in a few words.
func Reason(lost error) string {
	for _, r := range reasons {
		if r.err != nil && errors.Is(lost, r.err) {
			return r.text
		}
	}
	return otherReason
}
