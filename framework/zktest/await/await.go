// Package await waits, in a test, for what must happen, on a machine that may be slow.
//
// A failure of this package begins with [TimedOut]. It says that the test judged nothing yet when its time was up: the
// machine may have been too slow, or what the test waits for never happens. Other failures are about values, and a slow
// machine is no excuse for them. So a script that runs tests can distinguish the two by the text, and repeat a test of
// the first kind.
//
// Where that would be wrong a failure begins with [TooLong]: if the test had failed before, and in a bubble of
// testing/synctest, where no machine is slow.
//
// A test that searches for what is left over, such as nodes, watches or goroutines, says so in words of its own: a leak
// is a wrong value, however long the test has waited. A test that prints something after such a failure, as the log of
// a server, writes it to t.Output(): what t.Log prints looks like a failure.
package await

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// TimedOut begins each failure of this package but those that begin with [TooLong].
const TimedOut = "timed out waiting for "

// TooLong begins a failure in a bubble, or of a test that had failed before, if only by another wait.
const TooLong = "waited too long for "

// interval is how often [Until] looks.
const interval = 5 * time.Millisecond

// Until blocks until ok returns true, which it asks every 5 ms on the calling goroutine. After limit it ends the test
// with [Fatalf]. What names the event, as in "the leader's node".
func Until(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	if !Within(limit, ok) {
		Fatalf(t, "%s (%v)", what, limit)
	}
}

// Within blocks as [Until] does, and reports whether ok returned true before the limit. It is for a test that has more
// to say when it fails. ok is asked once more when the time is up.
func Within(limit time.Duration, ok func() bool) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	look := time.NewTicker(interval)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-late.C:
			return ok()
		}
	}
	return true
}

// Receive blocks until a value comes from the channel, or the channel is closed, and returns what was received. After
// limit it ends the test with [Fatalf].
func Receive[T any](t testing.TB, limit time.Duration, what string, from <-chan T) T {
	t.Helper()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case got := <-from:
		return got
	case <-late.C:
	}
	select {
	case got := <-from: // after a stall both have come
		return got
	default:
		Fatalf(t, "%s (%v)", what, limit)
		panic("Fatalf returned")
	}
}

// Context returns a context that ends with parent, with cancel, at the end of the test, or after limit. In the last
// case the test has failed as by [Errorf], and [context.Cause] is an error with that text, which is a
// [context.DeadlineExceeded].
//
// A call that gets the context returns an error then, and the test may report that as well: the report names this
// cause, which says that it is no failure of its own.
func Context(parent context.Context, t testing.TB, limit time.Duration, what string) (ctx context.Context, cancel func()) {
	t.Helper()
	ctx, end := context.WithCancelCause(parent)
	expired := make(chan struct{})
	timer := time.AfterFunc(limit, func() {
		defer close(expired)
		if ctx.Err() == nil {
			failure := text(t, "%s (%v)", []any{what, limit})
			t.Error(failure) // before the context ends, and the test can fail of that
			end(&timeoutError{failure})
		}
	})
	cancel = sync.OnceFunc(func() {
		end(nil)
		if !timer.Stop() {
			<-expired // a test that has ended takes no failures
		}
	})
	t.Cleanup(cancel)
	return ctx, cancel
}

// timeoutError is the cause of a context whose limit has passed.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }
func (*timeoutError) Unwrap() error   { return context.DeadlineExceeded }

// Fatalf ends the test because it has waited too long. The text names what it waited for, and best what it had until
// then: "the third event, got %v".
func Fatalf(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Fatal(text(t, format, args))
}

// Errorf is [Fatalf] for a test that goes on.
func Errorf(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Error(text(t, format, args))
}

func text(t testing.TB, format string, args []any) string {
	begin := TimedOut
	if t.Failed() || inBubble() {
		begin = TooLong
	}
	return begin + fmt.Sprintf(format, args...)
}

// inBubble decides by the clock: a bubble's begins with the year 2000 (package testing/synctest).
func inBubble() bool { return time.Now().Year() < 2020 }
