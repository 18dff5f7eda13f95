package framework

import (
	"context"
	"errors"
	"time"
)

// passingPause is how long List waits when a server says that it is overloaded.
const passingPause = 100 * time.Millisecond

// List returns the names of a node's children, unsorted, as the server sees them at some moment after the call. Unlike
// [Session.Children] it waits until the session is ready for a hold, and asks again whenever the connection breaks, or the
// server is overloaded, before the answer.
//
// Errors: the server's (zk.ErrNoNode, …), the session's, or ctx's cause.
func (s *Session) List(ctx context.Context, path string) ([]string, error) {
	for {
		if err := s.Ready(ctx); err != nil {
			return nil, err
		}
		children, err := s.Children(ctx, path)
		if err == nil || !retryable(err) {
			return children, err
		}
		if !errors.Is(err, errDetached) && !errors.Is(err, ErrConnectionLost) {
			pause(ctx, passingPause)
		}
	}
}

// pause waits for d, or less if ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
