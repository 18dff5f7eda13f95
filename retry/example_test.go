package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/retry"
)

func Example() {
	ctx := context.Background()
	policy := retry.ExponentialBackoff(time.Millisecond, 3)

	tries := 0
	err := retry.Do(ctx, policy, func(context.Context) error {
		if tries++; tries < 3 {
			return errors.New("connection refused")
		}
		return nil
	})
	fmt.Println(tries, err)
	// Output: 3 <nil>
}

func ExampleDo_givingUp() {
	down := errors.New("connection refused")
	err := retry.Do(context.Background(), retry.NTimes(2, 0), func(context.Context) error { return down })

	fmt.Println(errors.Is(err, down), errors.Is(err, retry.ErrExhausted))
	var gaveUp *retry.Error
	if errors.As(err, &gaveUp) {
		fmt.Println(gaveUp.Attempts, "attempts,", gaveUp.Cause)
	}
	// Output:
	// true true
	// 3 attempts, no retries left
}

func ExamplePermanent() {
	noSuchNode := errors.New("no such node")
	err := retry.Do(context.Background(), retry.Forever(time.Second), func(context.Context) error {
		return retry.Permanent(noSuchNode)
	})
	fmt.Println(err) // as it was, with nothing around it
	// Output: no such node
}

func ExampleDoValue() {
	answer, err := retry.DoValue(context.Background(), retry.OneTime(0), func(context.Context) (int, error) {
		return 42, nil
	})
	fmt.Println(answer, err)
	// Output: 42 <nil>
}

func ExampleValidate() {
	fmt.Println(retry.Validate(retry.ExponentialBackoff(0, 30)))
	// Output: retry: invalid policy ExponentialBackoff(0s, 30): base must be positive; maxRetries must be at most 29
}

// Two retries at once, then one a second for as long as a minute has not passed.
func ExampleAllowRetry() {
	policy := retry.AllowRetry(func(n int, elapsed time.Duration) (time.Duration, bool) {
		if n < 2 {
			return 0, true
		}
		return time.Second, elapsed < time.Minute
	})
	fmt.Println(retry.Validate(policy))
	// Output: <nil>
}

// Any policy of backoff/v4 is a Policy once it is wrapped in a function that makes it.
func ExamplePolicy() {
	var policy retry.Policy = func() backoff.BackOff {
		return backoff.WithMaxRetries(&backoff.ZeroBackOff{}, 4)
	}
	tries := 0
	_ = retry.Do(context.Background(), policy, func(context.Context) error {
		tries++
		return errors.New("connection refused")
	})
	fmt.Println(tries)
	// Output: 5
}
