package retry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

var errFlaky = errors.New("connection refused")

func TestDoPausesBetweenTries(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var tries []time.Duration
		start := time.Now()
		err := retry.Do(t.Context(), retry.NTimes(2, time.Minute), failing(func() {
			tries = append(tries, time.Since(start))
		}))

		wantTries(t, tries, 0, time.Minute, 2*time.Minute)
		var gaveUp *retry.Error
		if !errors.As(err, &gaveUp) {
			t.Fatalf("got %#v, want *retry.Error", err)
		}
		want := retry.Error{Attempts: 3, Elapsed: 2 * time.Minute, Last: errFlaky, Cause: retry.ErrExhausted}
		if *gaveUp != want {
			t.Errorf("got %#v, want %#v", *gaveUp, want)
		}
		if !errors.Is(err, errFlaky) || !errors.Is(err, retry.ErrExhausted) {
			t.Errorf("%v does not unwrap to both the failure and the cause", err)
		}
	})
}

func TestDoStopsAtTheFirstSuccess(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tries := 0
		err := retry.Do(t.Context(), retry.Forever(time.Minute), func(context.Context) error {
			if tries++; tries < 100 {
				return errFlaky
			}
			return nil
		})
		if err != nil || tries != 100 {
			t.Errorf("got %v after %d tries, want success after 100", err, tries)
		}
	})
}

func TestADoneContextRunsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("shutting down")
	cancel(reason)

	err := retry.Do(ctx, retry.Never(), func(context.Context) error {
		t.Error("got a try, want none")
		return nil
	})
	if want := "retry: not attempted, the context had ended: shutting down"; !errors.Is(err, reason) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestTheEndOfTheContextEndsAPauseAtOnce(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		reason := errors.New("too slow")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, reason)
		defer cancel()
		start := time.Now()
		tries := 0
		err := retry.Do(ctx, retry.Forever(time.Hour), failing(func() { tries++ }))

		if got := time.Since(start); got != time.Second || tries != 1 {
			t.Errorf("returned after %v and %d tries, want 1s and 1", got, tries)
		}
		if !errors.Is(err, errFlaky) || !errors.Is(err, reason) || errors.Is(err, retry.ErrExhausted) {
			t.Errorf("got %v, want the failure and the context's cause", err)
		}
	})
}

// The context ends while the policy is being asked, so that a pause of zero and the context are over together:
// whichever the select sees, there must be no further try.
func TestNoTryAfterAPauseThatOutlivedItsContext(t *testing.T) {
	for range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		tries := 0
		err := retry.Do(ctx, retry.AllowRetry(func(int, time.Duration) (time.Duration, bool) {
			cancel()
			return 0, true
		}), failing(func() { tries++ }))
		if tries != 1 || !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v after %d tries, want one try and context.Canceled", err, tries)
		}
	}
}

func TestTheContextIsBlamedBeforeThePolicy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := retry.Do(ctx, retry.Never(), failing(cancel))
	if !errors.Is(err, context.Canceled) || errors.Is(err, retry.ErrExhausted) {
		t.Errorf("got %v, want context.Canceled as the cause", err)
	}
}

func TestASuccessCountsAlthoughTheContextEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := retry.Do(ctx, retry.Never(), func(context.Context) error { cancel(); return nil }); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

func TestPermanentErrorsAreReturnedBare(t *testing.T) {
	wrapped := fmt.Errorf("create: %w", retry.Permanent(errFlaky))
	tests := []struct {
		name       string
		give, want error
	}{
		{"ours", retry.Permanent(errFlaky), errFlaky},
		{"backoff's", backoff.Permanent(errFlaky), errFlaky},
		{"marked twice", retry.Permanent(retry.Permanent(errFlaky)), errFlaky},
		{"marked inside", wrapped, wrapped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tries := 0
			err := retry.Do(t.Context(), retry.Forever(time.Hour), func(context.Context) error { tries++; return tt.give })
			if err != tt.want || tries != 1 {
				t.Errorf("got %#v after %d tries, want %#v after 1", err, tries, tt.want)
			}
		})
	}
}

func TestPermanentNilIsSuccess(t *testing.T) {
	if err := retry.Permanent(nil); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

func TestDoValueReturnsTheResult(t *testing.T) {
	tries := 0
	op := func(context.Context) (string, error) {
		if tries++; tries < 3 {
			return "half a result", errFlaky
		}
		return "result", nil
	}
	if got, err := retry.DoValue(t.Context(), retry.NTimes(2, 0), op); got != "result" || err != nil {
		t.Errorf("got %q, %v, want the result", got, err)
	}

	tries = 0
	if got, err := retry.DoValue(t.Context(), retry.OneTime(0), op); got != "" || !errors.Is(err, errFlaky) {
		t.Errorf("got %q, %v, want no result and the failure", got, err)
	}
}

func TestAPluggedPolicyStartsAfresh(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		policy := func() backoff.BackOff { return backoff.WithMaxRetries(backoff.NewConstantBackOff(time.Minute), 2) }
		for range 3 {
			tries := 0
			err := retry.Do(t.Context(), policy, failing(func() { tries++ }))
			if tries != 3 || !errors.Is(err, retry.ErrExhausted) {
				t.Errorf("got %v after %d tries, want exhaustion after 3", err, tries)
			}
		}
	})
}

func TestOnePolicyServesManyOperationsAtOnce(t *testing.T) {
	for name, policy := range map[string]retry.Policy{
		"exponential": retry.ExponentialBackoff(time.Microsecond, 4),
		"constant":    retry.NTimes(4, 0),
	} {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			var tries atomic.Int64
			for range 50 {
				wg.Go(func() {
					var gaveUp *retry.Error
					err := retry.Do(t.Context(), policy, failing(func() { tries.Add(1) }))
					if !errors.As(err, &gaveUp) || gaveUp.Attempts != 5 {
						t.Errorf("got %v, want 5 attempts", err)
					}
				})
			}
			wg.Wait()
			if got := tries.Load(); got != 250 {
				t.Errorf("%d tries in all, want 250", got)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	tests := []struct {
		give retry.Error
		want string
	}{
		{
			retry.Error{Attempts: 4, Elapsed: 7123 * time.Millisecond, Last: errFlaky, Cause: retry.ErrExhausted},
			"retry: gave up after 4 attempts in 7.1s: connection refused: no retries left",
		},
		{
			retry.Error{Attempts: 1, Elapsed: 1234567, Last: errFlaky, Cause: context.Canceled},
			"retry: gave up after 1 attempt in 1ms: connection refused: context canceled",
		},
		{
			retry.Error{Attempts: 2, Elapsed: 1234, Last: context.Canceled, Cause: context.Canceled},
			"retry: gave up after 2 attempts in 1µs: context canceled",
		},
		{
			retry.Error{Cause: context.DeadlineExceeded},
			"retry: not attempted, the context had ended: context deadline exceeded",
		},
	}
	for _, tt := range tests {
		if got := tt.give.Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// failing is an operation that does something and fails.
func failing(do func()) func(context.Context) error {
	return func(context.Context) error {
		do()
		return errFlaky
	}
}

func wantTries(t *testing.T, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("tried at %v, want %v", got, want)
	}
}
