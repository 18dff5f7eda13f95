package retry

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
)

const (
	// maxExponentialRetries keeps the random factor, below 2^retries, inside Curator's 32-bit arithmetic.
	maxExponentialRetries = 29

	// maxExponentialSleep is the cap of Curator's exponential policy when none is given: the largest 32-bit number of
	// milliseconds, some 24.8 days.
	maxExponentialSleep = math.MaxInt32 * time.Millisecond
)

// A Policy says whether and when a failed operation is tried again. It is a factory: each operation calls it once and
// has the backoff that it returns to itself, so a Policy is safe for concurrent use although a backoff is not.
//
// The constructors of this package return no error, to read well as arguments. Arguments out of range make a Policy
// that [Validate] and [Do] refuse, naming every problem.
//
// Curator: RetryPolicy.
type Policy func() backoff.BackOff

// ErrInvalidPolicy is wrapped by the errors of [Validate] and [Do] for a policy that cannot be used.
var ErrInvalidPolicy = errors.New("retry: invalid policy")

// Validate reports what is wrong with policy: it is nil, makes nil, or came from a constructor of this package with
// arguments out of range. It calls policy once.
func Validate(policy Policy) error {
	_, err := policy.start()
	return err
}

// start returns a backoff that counts from now, or says why it cannot.
func (p Policy) start() (backoff.BackOff, error) {
	if p == nil {
		return nil, fmt.Errorf("%w: nil", ErrInvalidPolicy)
	}
	b := p()
	if b == nil {
		return nil, fmt.Errorf("%w: it made a nil backoff", ErrInvalidPolicy)
	}
	if bad, ok := b.(*invalid); ok {
		return nil, fmt.Errorf("%w %s", ErrInvalidPolicy, bad.reason)
	}
	b.Reset()
	return b, nil
}

// ExponentialBackoff retries at most maxRetries times. The pause before retry n, counted from 0, is base multiplied by
// a random whole number below 2^(n+1), at least 1 and at most 24.8 days altogether.
//
// base must be positive and at most that cap, maxRetries between 0 and 29. (Curator takes more than 29 for 29.)
//
// Curator: ExponentialBackoffRetry.
func ExponentialBackoff(base time.Duration, maxRetries int) Policy {
	name := fmt.Sprintf("ExponentialBackoff(%v, %d)", base, maxRetries)
	return exponential(name, base, maxExponentialSleep, maxRetries)
}

// BoundedExponentialBackoff is [ExponentialBackoff] with pauses of at most maxSleep.
//
// base must be positive, maxSleep at least base, maxRetries between 0 and 29. (Curator takes more than 29 for 29, and
// any maxSleep.)
//
// Curator: BoundedExponentialBackoffRetry.
func BoundedExponentialBackoff(base, maxSleep time.Duration, maxRetries int) Policy {
	name := fmt.Sprintf("BoundedExponentialBackoff(%v, %v, %d)", base, maxSleep, maxRetries)
	return exponential(name, base, maxSleep, maxRetries)
}

func exponential(name string, base, maxSleep time.Duration, maxRetries int) Policy {
	return checked(AllowRetry(func(n int, _ time.Duration) (time.Duration, bool) {
		if n >= maxRetries {
			return 0, false
		}
		return exponentialSleep(base, maxSleep, n), true
	}), name,
		must(base > 0, "base must be positive"),
		must(base <= maxSleep, "base must not be above the longest sleep, %v", maxSleep),
		must(maxRetries >= 0, "maxRetries must not be negative"),
		must(maxRetries <= maxExponentialRetries, "maxRetries must be at most %d", maxExponentialRetries))
}

func exponentialSleep(base, maxSleep time.Duration, n int) time.Duration {
	factor := max(1, rand.Int64N(1<<(n+1)))
	if int64(base) > int64(maxSleep)/factor { // the product would pass maxSleep, or even overflow
		return maxSleep
	}
	return base * time.Duration(factor)
}

// NTimes retries at most n times, pausing for sleep before each retry. Neither may be negative; a sleep of zero retries
// at once.
//
// Curator: RetryNTimes.
func NTimes(n int, sleep time.Duration) Policy {
	return nTimes(fmt.Sprintf("NTimes(%d, %v)", n, sleep), n, sleep)
}

// OneTime retries once, after a pause of sleep. It must not be negative; zero retries at once.
//
// Curator: RetryOneTime.
func OneTime(sleep time.Duration) Policy {
	return nTimes(fmt.Sprintf("OneTime(%v)", sleep), 1, sleep)
}

// Never does not retry: the operation is tried once.
func Never() Policy { return NTimes(0, 0) }

func nTimes(name string, n int, sleep time.Duration) Policy {
	return checked(AllowRetry(func(retries int, _ time.Duration) (time.Duration, bool) {
		return sleep, retries < n
	}), name,
		must(n >= 0, "n must not be negative"),
		must(sleep >= 0, "sleep must not be negative"))
}

// Forever retries until the context ends, pausing for interval before each retry. interval must be positive.
//
// Curator: RetryForever.
func Forever(interval time.Duration) Policy {
	return checked(AllowRetry(func(int, time.Duration) (time.Duration, bool) {
		return interval, true
	}), fmt.Sprintf("Forever(%v)", interval),
		must(interval > 0, "interval must be positive"))
}

// UntilElapsed retries as long as less than maxElapsed has passed since the start of the operation, pausing for sleep
// before each retry; the last try may thus begin up to one sleep later. Both must be positive. (Curator sleeps once
// more before it gives up.)
//
// Curator: RetryUntilElapsed.
func UntilElapsed(maxElapsed, sleep time.Duration) Policy {
	return checked(AllowRetry(func(_ int, elapsed time.Duration) (time.Duration, bool) {
		return sleep, elapsed < maxElapsed
	}), fmt.Sprintf("UntilElapsed(%v, %v)", maxElapsed, sleep),
		must(maxElapsed > 0, "maxElapsed must be positive"),
		must(sleep > 0, "sleep must be positive"))
}

// AllowRetry makes a Policy of a function. It is asked after each failure, with the number of retries so far and the
// time since the start of the operation, and answers how long to pause before the next try, and whether there is one.
// As with [time.Sleep], a pause that is not positive is none. next must not be nil; operations running at the same time
// call it at the same time.
//
// Curator: RetryPolicy.allowRetry(retryCount, elapsedTimeMs, sleeper).
func AllowRetry(next func(n int, elapsed time.Duration) (sleep time.Duration, ok bool)) Policy {
	return checked(func() backoff.BackOff {
		return &counting{next: next, start: time.Now()}
	}, "AllowRetry", must(next != nil, "the function must not be nil"))
}

// counting is the one backoff of this package: it remembers what the function of AllowRetry wants to know.
type counting struct {
	next    func(n int, elapsed time.Duration) (time.Duration, bool)
	retries int
	start   time.Time
}

func (c *counting) Reset() {
	c.retries, c.start = 0, time.Now()
}

func (c *counting) NextBackOff() time.Duration {
	sleep, ok := c.next(c.retries, time.Since(c.start))
	if !ok {
		return backoff.Stop
	}
	c.retries++
	return max(0, sleep) // so that no negative pause is mistaken for backoff.Stop
}

// invalid stands for a policy that cannot be used. Outside this package it never retries.
type invalid struct {
	backoff.StopBackOff
	reason string
}

// checked returns policy, unless one of its constructor's demands was not met.
func checked(policy Policy, name string, demands ...string) Policy {
	var unmet []string
	for _, demand := range demands {
		if demand != "" {
			unmet = append(unmet, demand)
		}
	}
	if len(unmet) == 0 {
		return policy
	}
	reason := name + ": " + strings.Join(unmet, "; ")
	return func() backoff.BackOff { return &invalid{reason: reason} }
}

// must returns the demand if it was not met, and nothing if it was.
func must(met bool, format string, args ...any) string {
	if met {
		return ""
	}
	return fmt.Sprintf(format, args...)
}
