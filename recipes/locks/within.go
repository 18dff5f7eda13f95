package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/retry"
)

// Within returns lock with a time limit: Acquire waits for at most d and then returns [ErrNotAcquired]. d bounds
// neither the lease nor work in Do(ctx, Within(lock, d), work), nor re-entry, and bounds a multi-lock as a whole. If d
// is not positive, Acquire is TryAcquire, which may take up to the client's connection timeout.
//
// Errors: those of lock, and
//
//   - [ErrNotAcquired], which is not context.DeadlineExceeded, if d has passed;
//   - ctx's error if ctx has ended as well, so that the caller's deadline is never reported as "not acquired";
//   - a *framework.ConnectError if d has passed and there is no connection.
//
// No node is left behind.
//
// The result is the same lock as lock, also within a multi-lock, and as safe for concurrent use.
//
// Curator: InterProcessLock.acquire(time, unit).
func Within(lock Lock, d time.Duration) *TimedLock { return &TimedLock{lock: lock, d: d} }

// A TimedLock is what [Within] returns. Ask the lock itself whether it is held, and by whom.
type TimedLock struct {
	lock Lock
	d    time.Duration
}

var _ Lock = (*TimedLock)(nil)

// Acquire waits for the lock, for at most the time limit.
func (t *TimedLock) Acquire(ctx context.Context) (*Lease, error) {
	switch {
	case t.lock == nil:
		return nil, errNilLock
	case t.d <= 0:
		return t.lock.TryAcquire(ctx)
	}
	return limited(ctx, &timeLimit{after: t.d}, t.lock.Acquire)
}

// TryAcquire is the lock's. The time limit does not bound it.
func (t *TimedLock) TryAcquire(ctx context.Context) (*Lease, error) {
	if t.lock == nil {
		return nil, errNilLock
	}
	return t.lock.TryAcquire(ctx)
}

// untimed returns the lock inside of a TimedLock, or lock.
func untimed(lock Lock) Lock {
	for t, ok := lock.(*TimedLock); ok; t, ok = lock.(*TimedLock) {
		lock = t.lock
	}
	return lock
}

var errNilLock = errors.New("locks: the lock of Within is nil")

// A timeLimit bounds one call, and is the cause of its context. The recipe whose acquire it ends replaces it by its
// meaning.
type timeLimit struct {
	after  time.Duration
	try    bool            // bounds a try, which must not end with ErrNotAcquired if no server said so
	caller context.Context //nolint:containedctx // the call's, whose error counts if it has ended as well
}

func (l *timeLimit) Error() string { return fmt.Sprintf("time limit of %v", l.after) }

// limited calls acquire with a context that l ends as well.
//
// A limit not earlier than the caller's deadline gets no timer, because both could end the context at once.
func limited[T any](ctx context.Context, l *timeLimit, acquire func(context.Context) (T, error)) (T, error) {
	if deadline, ok := ctx.Deadline(); ok && !deadline.After(time.Now().Add(l.after)) {
		return acquire(ctx)
	}
	l.caller = ctx
	bounded, cancel := context.WithTimeoutCause(ctx, l.after, l)
	defer cancel()
	leases, err := acquire(bounded)
	if errors.Is(err, l) || err != nil && timeLimitOf(bounded) == l && errors.Is(err, bounded.Err()) {
		err = l.meaning(nil, false) // a Lock of another package returned it
	}
	return leases, err
}

func timeLimitOf(ctx context.Context) *timeLimit {
	l, _ := context.Cause(ctx).(*timeLimit) //nolint:errorlint // it is never wrapped
	return l
}

// explainLimit replaces a limit's error by what it means.
func (r *recipe) explainLimit(ctx context.Context, at queue.Progress, err error) error {
	l := timeLimitOf(ctx)
	if l == nil || !errors.Is(err, l) {
		return err
	}
	var unreachable *framework.ConnectError
	if !errors.As(err, &unreachable) && !r.client.State().IsConnected() {
		_, err = r.client.Session(ctx) // ctx has ended, so this does not wait; its error says what each server did
		errors.As(err, &unreachable)
	}
	return l.meaning(unreachable, at.Ahead > 0)
}

// meaning is the caller's error after the limit. blocked: a server named another contender ahead.
func (l *timeLimit) meaning(unreachable *framework.ConnectError, blocked bool) error {
	cause := retry.ContextError(l.caller)
	switch {
	case unreachable != nil:
		return &framework.ConnectError{Servers: unreachable.Servers, Cause: cmp.Or(cause, errors.New(l.Error()))}
	case cause != nil:
		return cause
	case l.try && !blocked:
		return fmt.Errorf("no answer within the connection timeout of %v: %w", l.after, framework.ErrConnectionLost)
	default:
		return fmt.Errorf("%w within %v", ErrNotAcquired, l.after)
	}
}
