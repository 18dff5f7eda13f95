// Package retry answers one question about an operation that failed: again, and when?
//
// # Use
//
// A [Policy] decides how often and after which pauses; [Do] runs the operation under it:
//
//	policy := retry.ExponentialBackoff(time.Second, 3)
//	err := retry.Do(ctx, policy, func(ctx context.Context) error {
//		err := send(ctx)
//		if errors.Is(err, errRefused) {
//			return retry.Permanent(err) // trying again cannot help
//		}
//		return err
//	})
//
// A Policy makes a fresh backoff for every operation, so one value may be shared by any number of operations at once.
// Any policy of [github.com/cenkalti/backoff/v4] plugs in:
//
//	policy := func() backoff.BackOff { return backoff.NewExponentialBackOff(backoff.WithMaxElapsedTime(0)) }
//
// Mind that backoff's own exponential policy gives up after 15 minutes unless that is changed, as above. The
// policies of this package have no limit but those in their arguments.
//
// # Guarantees
//
//   - The context is looked at before every try, the first included; a done context runs nothing and ends a pause at
//     once.
//   - One Do is one budget. An operation made of several steps that is retried as a whole spends it once; an operation
//     that calls Do itself multiplies the budgets, so don't.
//   - The operation's last error is never lost: [Error] unwraps to it and to the reason for giving up.
//   - Nothing is silently corrected. Arguments that make no sense become a policy that [Validate] and Do refuse.
//   - Time is measured on the monotonic clock, from the start of Do.
//
// # For readers of Curator
//
//	ExponentialBackoffRetry(base, n)                  ExponentialBackoff(base, n)
//	ExponentialBackoffRetry(base, n, maxSleep)        BoundedExponentialBackoff(base, maxSleep, n)
//	BoundedExponentialBackoffRetry(base, maxSleep, n) BoundedExponentialBackoff(base, maxSleep, n)
//	RetryNTimes(n, sleep)                             NTimes(n, sleep); NTimes(0, 0) is Never()
//	RetryOneTime(sleep)                               OneTime(sleep)
//	RetryForever(interval)                            Forever(interval)
//	RetryUntilElapsed(maxElapsed, sleep)              UntilElapsed(maxElapsed, sleep)
//	SessionFailedRetryPolicy(delegate)                return Permanent(err) from the operation
//	RetryPolicy.allowRetry(exception)                 return Permanent(err) from the operation
//	RetryPolicy.allowRetry(count, elapsed, sleeper)   AllowRetry(func(n, elapsed) (sleep, ok))
//	RetryLoop.callWithRetry                           Do, DoValue
//
// The pauses follow Curator's formulas. Three things differ: more than 29 exponential retries, which Curator cuts to 29
// with a warning, are refused; UntilElapsed does not sleep once more after its time is over; and the end of the context
// takes the place of the thread's interruption.
package retry
