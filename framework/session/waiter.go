package session

import (
	"context"

	"github.com/gocurator/curator/retry"
)

// A Waiter has one goroutine wait for news: of watches, whose wake is its Signal, and of anything else that calls it.
// It serves one session after the other. A copy is the same Waiter.
type Waiter struct{ news chan struct{} }

// NewWaiter returns a Waiter that has no news.
func NewWaiter() Waiter { return Waiter{make(chan struct{}, 1)} }

// Signal says that there may be news. It does not block, and is safe for concurrent use. A Signal that comes while no
// goroutine waits ends the next Wait; several that come before it count as one.
func (w Waiter) Signal() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// News can be read once there may be news, for a select of the caller's own.
func (w Waiter) News() <-chan struct{} { return w.news }

// Wait blocks until there may be news, or also can be read or is closed; a nil also never is.
//
// Errors: why the session has ended, if that ends it; the end of ctx.
func (w Waiter) Wait(ctx context.Context, s Session, also <-chan struct{}) error {
	select {
	case <-w.news:
		return nil
	case <-also:
		return nil
	case <-s.Done():
		return s.Err()
	case <-ctx.Done():
		return retry.ContextError(ctx)
	}
}
