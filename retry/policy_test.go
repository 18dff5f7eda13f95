package retry_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

const curatorCap = math.MaxInt32 * time.Millisecond

// rounds is how often a random policy is driven from its start to its end.
const rounds = 2000

func TestExponentialPausesStayInCuratorsRange(t *testing.T) {
	const base = 10 * time.Millisecond
	tests := []struct {
		name   string
		policy retry.Policy
		highs  []time.Duration // the longest pause before retry 0, 1, …
	}{
		{"three", retry.ExponentialBackoff(base, 3), []time.Duration{base, 3 * base, 7 * base}},
		{"none", retry.ExponentialBackoff(base, 0), nil},
		{"bounded", retry.BoundedExponentialBackoff(base, 5*base, 4), []time.Duration{base, 3 * base, 5 * base, 5 * base}},
		{"bounded by its base", retry.BoundedExponentialBackoff(base, base, 2), []time.Duration{base, base}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lowest, highest := make([]time.Duration, len(tt.highs)), make([]time.Duration, len(tt.highs))
			for range rounds {
				sleeps := drain(t, tt.policy, len(tt.highs)+1)
				if len(sleeps) != len(tt.highs) {
					t.Fatalf("%d retries, want %d", len(sleeps), len(tt.highs))
				}
				for n, sleep := range sleeps {
					if sleep < base || sleep > tt.highs[n] || sleep%base != 0 {
						t.Fatalf("pause %d is %v, want a multiple of %v up to %v", n, sleep, base, tt.highs[n])
					}
					if lowest[n] == 0 || sleep < lowest[n] {
						lowest[n] = sleep
					}
					highest[n] = max(highest[n], sleep)
				}
			}
			for n, high := range tt.highs {
				if lowest[n] != base || highest[n] != high {
					t.Errorf("pause %d ranged over [%v, %v], want all of [%v, %v]", n, lowest[n], highest[n], base, high)
				}
			}
		})
	}
}

func TestExponentialPausesNeverPassTheCap(t *testing.T) {
	tests := []struct {
		name   string
		policy retry.Policy
		base   time.Duration
		most   time.Duration
	}{
		{"Curator's own cap", retry.ExponentialBackoff(time.Second, 29), time.Second, curatorCap},
		{"a base beyond which products overflow", retry.ExponentialBackoff(curatorCap, 29), curatorCap, curatorCap},
		{"a given cap", retry.BoundedExponentialBackoff(1, 100, 29), 1, 100},
		{"the longest duration", retry.BoundedExponentialBackoff(math.MaxInt64, math.MaxInt64, 29), math.MaxInt64, math.MaxInt64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range rounds {
				sleeps := drain(t, tt.policy, 30)
				if len(sleeps) != 29 {
					t.Fatalf("%d retries, want 29", len(sleeps))
				}
				for n, sleep := range sleeps {
					if sleep < tt.base || sleep > tt.most {
						t.Fatalf("pause %d is %v, want within [%v, %v]", n, sleep, tt.base, tt.most)
					}
				}
			}
		})
	}
}

func TestConstantPausesAreAsGiven(t *testing.T) {
	const sleep = 3 * time.Second
	tests := []struct {
		name   string
		policy retry.Policy
		want   int
	}{
		{"NTimes", retry.NTimes(4, sleep), 4},
		{"NTimes zero", retry.NTimes(0, sleep), 0},
		{"OneTime", retry.OneTime(sleep), 1},
		{"Never", retry.Never(), 0},
		{"Forever", retry.Forever(sleep), 1000}, // as many as are asked for
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sleeps := drain(t, tt.policy, 1000)
			if len(sleeps) != tt.want {
				t.Errorf("%d retries, want %d", len(sleeps), tt.want)
			}
			for n, got := range sleeps {
				if got != sleep {
					t.Fatalf("pause %d is %v, want %v", n, got, sleep)
				}
			}
		})
	}
}

func TestUntilElapsedStopsWithoutAUselessSleep(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var tries []time.Duration
		start := time.Now()
		err := retry.Do(t.Context(), retry.UntilElapsed(5*time.Second, 2*time.Second), failing(func() {
			tries = append(tries, time.Since(start))
		}))

		wantTries(t, tries, 0, 2*time.Second, 4*time.Second, 6*time.Second)
		var gaveUp *retry.Error
		if !errors.As(err, &gaveUp) || gaveUp.Elapsed != 6*time.Second || !errors.Is(err, retry.ErrExhausted) {
			t.Errorf("got %#v, want exhaustion right after the try at 6s", err)
		}
	})
}

func TestAllowRetryGetsRetriesAndTime(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		type question struct {
			n       int
			elapsed time.Duration
		}
		var asked []question
		policy := retry.AllowRetry(func(n int, elapsed time.Duration) (time.Duration, bool) {
			asked = append(asked, question{n, elapsed})
			return time.Duration(n) * time.Second, n < 3
		})
		for range 2 { // the second operation must not inherit from the first
			asked = nil
			_ = retry.Do(t.Context(), policy, failing(func() { time.Sleep(time.Minute) }))

			want := []question{
				{0, time.Minute},
				{1, 2 * time.Minute},
				{2, 3*time.Minute + time.Second},
				{3, 4*time.Minute + 3*time.Second},
			}
			if len(asked) != len(want) {
				t.Fatalf("asked %v, want %v", asked, want)
			}
			for i := range want {
				if asked[i] != want[i] {
					t.Errorf("question %d was %v, want %v", i, asked[i], want[i])
				}
			}
		}
	})
}

func TestAPauseThatIsNotPositiveIsNone(t *testing.T) {
	for _, sleep := range []time.Duration{0, backoff.Stop, -time.Hour} {
		policy := retry.AllowRetry(func(n int, _ time.Duration) (time.Duration, bool) { return sleep, n < 2 })
		if got := drain(t, policy, 10); len(got) != 2 || got[0] != 0 || got[1] != 0 {
			t.Errorf("sleep %v: pauses %v, want two of zero", sleep, got)
		}
	}
}

func TestBadArgumentsAreAllNamed(t *testing.T) {
	tests := []struct {
		name   string
		policy retry.Policy
		want   []string
	}{
		{"nil", nil, []string{"nil"}},
		{"nil backoff", func() backoff.BackOff { return nil }, []string{"nil backoff"}},
		{"nil function", retry.AllowRetry(nil), []string{"AllowRetry", "function must not be nil"}},
		{"zero base", retry.ExponentialBackoff(0, 3), []string{"ExponentialBackoff(0s, 3)", "base must be positive"}},
		{"huge base", retry.ExponentialBackoff(1000*time.Hour, 3), []string{"above the longest sleep"}},
		{"negative retries", retry.ExponentialBackoff(1, -1), []string{"maxRetries must not be negative"}},
		{"too many retries", retry.ExponentialBackoff(1, 30), []string{"maxRetries must be at most 29"}},
		{"cap below base", retry.BoundedExponentialBackoff(2, 1, 3), []string{"BoundedExponentialBackoff(2ns, 1ns, 3)", "longest sleep, 1ns"}},
		{"negative cap", retry.BoundedExponentialBackoff(1, -1, 3), []string{"longest sleep"}},
		{"everything", retry.BoundedExponentialBackoff(0, -1, 30), []string{"base must be positive", "longest sleep", "at most 29"}},
		{"negative n", retry.NTimes(-1, 0), []string{"NTimes(-1, 0s)", "n must not be negative"}},
		{"negative n and sleep", retry.NTimes(-1, -1), []string{"n must", "sleep must"}},
		{"negative sleep", retry.OneTime(-1), []string{"OneTime(-1ns)", "sleep must not be negative"}},
		{"zero interval", retry.Forever(0), []string{"Forever(0s)", "interval must be positive"}},
		{"negative interval", retry.Forever(-1), []string{"interval must be positive"}},
		{"zero elapsed", retry.UntilElapsed(0, 1), []string{"UntilElapsed(0s, 1ns)", "maxElapsed must be positive"}},
		{"zero sleep", retry.UntilElapsed(1, 0), []string{"sleep must be positive"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := retry.Validate(tt.policy)
			if !errors.Is(err, retry.ErrInvalidPolicy) {
				t.Fatalf("Validate returned %v, want ErrInvalidPolicy", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}

			done := retry.Do(t.Context(), tt.policy, func(context.Context) error {
				t.Error("got a try under an invalid policy, want none")
				return nil
			})
			if done == nil || done.Error() != err.Error() {
				t.Errorf("Do returned %v, want %v", done, err)
			}
		})
	}
}

func TestValidateAcceptsWhatIsUsable(t *testing.T) {
	for name, policy := range map[string]retry.Policy{
		"exponential": retry.ExponentialBackoff(time.Second, 29),
		"bounded":     retry.BoundedExponentialBackoff(1, 1, 0),
		"at once":     retry.NTimes(1, 0),
		"never":       retry.Never(),
		"plugged":     func() backoff.BackOff { return backoff.NewExponentialBackOff() },
	} {
		if err := retry.Validate(policy); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A policy that is misused outside Do must at least not loop.
func TestAnInvalidPolicyNeverRetriesElsewhere(t *testing.T) {
	if sleeps := drain(t, retry.Forever(-1), 1); len(sleeps) != 0 {
		t.Errorf("it retried after %v", sleeps)
	}
}

func FuzzBoundedExponentialBackoff(f *testing.F) {
	f.Add(int64(time.Second), int64(time.Minute), 3)
	f.Add(int64(1), int64(math.MaxInt64), 29)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), 29)
	f.Add(int64(0), int64(-1), 30)
	f.Fuzz(func(t *testing.T, base, maxSleep int64, maxRetries int) {
		policy := retry.BoundedExponentialBackoff(time.Duration(base), time.Duration(maxSleep), maxRetries)
		usable := base > 0 && maxSleep >= base && maxRetries >= 0 && maxRetries <= 29
		if err := retry.Validate(policy); (err == nil) != usable {
			t.Fatalf("Validate says %v", err)
		}
		if !usable {
			return
		}
		sleeps := drain(t, policy, 30)
		if len(sleeps) != maxRetries {
			t.Fatalf("%d retries, want %d", len(sleeps), maxRetries)
		}
		for n, sleep := range sleeps {
			if sleep < time.Duration(base) || sleep > time.Duration(maxSleep) {
				t.Fatalf("pause %d is %d, want within [%d, %d]", n, sleep, base, maxSleep)
			}
		}
	})
}

// drain returns the pauses of one operation that always fails, at most limit of them.
func drain(t *testing.T, policy retry.Policy, limit int) []time.Duration {
	t.Helper()
	var sleeps []time.Duration
	b := policy()
	for range limit {
		sleep := b.NextBackOff()
		if sleep == backoff.Stop {
			break
		}
		sleeps = append(sleeps, sleep)
	}
	return sleeps
}
