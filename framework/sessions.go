package framework

import (
	"context"
	"iter"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// Sessions yields the present session, again and again, for work that begins anew when its session has ended or
// something in it has vanished: the body of the loop tries, and breaks after success, or an error that would come
// again. A [retry.Pace] spaces rounds that end early.
//
// Each round blocks as [Client.Session] does. A missing connection is an error before the first round; later it is
// waited out. The loop ends after an error.
//
// Errors: as [Client.Session]; [ErrClosed], and the error of ctx's end, also in a pause.
func (c *Client) Sessions(ctx context.Context) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		var pace retry.Pace
		for begun := false; ; {
			s, err := c.Session(ctx)
			switch {
			case err == nil:
			case begun && session.Again(ctx, err):
				continue // which took the connection timeout
			default:
				yield(nil, err)
				return
			}
			begun = true
			began := time.Now()
			if !yield(s, nil) {
				return
			}
			_ = pace.WaitUnless(ctx, time.Since(began), c.core.closing) // Session returns the error
		}
	}
}
