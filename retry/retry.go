package retry

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Do runs op until it succeeds, and again after each failure as policy allows.
//
// It blocks for as long as op and the pauses between its tries take. When ctx ends, no further try is made and a pause
// ends at once; a try under way is op's own business, and its success counts.
//
// Do returns nil once op has succeeded. If op failed with a [Permanent] error, it is returned as it was before it was
// marked. An invalid policy is refused, without a try, by an error that wraps [ErrInvalidPolicy]. Everything else is an
// [*Error].
//
// Do starts no goroutine. It is safe for concurrent use, also with one policy.
//
// Curator: RetryLoop.callWithRetry.
func Do(ctx context.Context, policy Policy, op func(ctx context.Context) error) error {
	start := time.Now()
	b, err := policy.start()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &Error{Cause: ContextError(ctx)}
	}
	for attempts := 1; ; attempts++ {
		err := op(ctx)
		if err == nil {
			return nil
		}
		if isPermanent(err) {
			return unmarked(err)
		}
		if cause := pause(ctx, b); cause != nil {
			return &Error{Attempts: attempts, Elapsed: time.Since(start), Last: err, Cause: cause}
		}
	}
}

// DoValue is [Do] for an operation that has a result. On failure it returns the zero value.
func DoValue[T any](ctx context.Context, policy Policy, op func(ctx context.Context) (T, error)) (T, error) {
	var value T
	err := Do(ctx, policy, func(ctx context.Context) (err error) {
		value, err = op(ctx)
		return err
	})
	if err != nil {
		return *new(T), err
	}
	return value, nil
}

// pause waits before the next try. It returns the reason why there is none, if so.
func pause(ctx context.Context, b backoff.BackOff) error {
	if ctx.Err() != nil {
		return ContextError(ctx)
	}
	sleep := b.NextBackOff()
	if sleep == backoff.Stop {
		return ErrExhausted
	}
	timer := time.NewTimer(sleep)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // even if the pause is over as well: a select of two ready cases picks either
		return ContextError(ctx)
	}
	return nil
}
