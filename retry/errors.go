package retry

import (
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// ErrExhausted is the Cause of an [Error] when the policy allowed no further try.
var ErrExhausted = errors.New("no retries left")

// An Error says that [Do] gave up. [errors.Is] and [errors.As] find both what went wrong last and why there was no
// further try.
type Error struct {
	// Attempts is the number of times that the operation was tried.
	Attempts int
	// Elapsed is the time from the start of Do until it gave up.
	Elapsed time.Duration
	// Last is the error of the last try; nil if the context had ended before the first.
	Last error
	// Cause is ErrExhausted, or the [ContextError] of a context that has ended.
	Cause error
}

// Error names the effort, the last failure and the cause, as in
// "retry: gave up after 4 attempts in 7.1s: connection refused: no retries left".
func (e *Error) Error() string {
	if e.Last == nil {
		return fmt.Sprintf("retry: not attempted, the context had ended: %v", e.Cause)
	}
	plural := "s"
	if e.Attempts == 1 {
		plural = ""
	}
	text := fmt.Sprintf("retry: gave up after %d attempt%s in %v: %v", e.Attempts, plural, brief(e.Elapsed), e.Last)
	if errors.Is(e.Last, e.Cause) { // an operation that reports the end of its context has said it already
		return text
	}
	return fmt.Sprintf("%s: %v", text, e.Cause)
}

// Unwrap returns Last, if there was a try, and Cause.
func (e *Error) Unwrap() []error {
	if e.Last == nil {
		return []error{e.Cause}
	}
	return []error{e.Last, e.Cause}
}

// Permanent marks err as one that trying again cannot help: [Do] stops at once and returns err without the mark. If err
// is nil, so is the result.
//
// The mark is also seen inside an error that wraps it, which Do then returns as it is, and so is that of
// [backoff.Permanent].
func Permanent(err error) error {
	return backoff.Permanent(err)
}

func isPermanent(err error) bool {
	var mark *backoff.PermanentError
	return errors.As(err, &mark)
}

// unmarked takes the marks off the outside of err.
func unmarked(err error) error {
	for {
		mark, ok := err.(*backoff.PermanentError) //nolint:errorlint // only the outermost; a wrapping error is kept whole
		if !ok || mark.Err == nil {
			return err
		}
		err = mark.Err
	}
}

// brief rounds d to what a reader of an error wants to know.
func brief(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(time.Millisecond)
	default:
		return d.Round(time.Microsecond)
	}
}
