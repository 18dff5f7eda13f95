package retry

import (
	"context"
	"errors"
)

// ContextError returns the error for a call that ends because ctx has ended. It reads like [context.Cause] of ctx, and
// [errors.Is] finds both that cause and ctx.Err() in it, which is [context.Canceled] or [context.DeadlineExceeded]. It
// is nil while ctx lasts.
func ContextError(ctx context.Context) error {
	cause, err := context.Cause(ctx), ctx.Err()
	if cause == nil || errors.Is(cause, err) {
		return cause
	}
	return &contextError{cause: cause, err: err}
}

type contextError struct{ cause, err error }

func (e *contextError) Error() string { return e.cause.Error() }

// Is finds the same end of the same context in an error that was made of it elsewhere.
func (e *contextError) Is(target error) bool {
	other, ok := target.(*contextError)
	return ok && e.err == other.err && errors.Is(e.cause, other.cause)
}

func (e *contextError) Unwrap() []error { return []error{e.cause, e.err} }
