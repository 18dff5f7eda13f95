package framework

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// Sessions yields the present session, again and again, for work that starts again when its session has ended or
// something in it has vanished: the body of the loop tries, and breaks after success, or an error that would come
// again. A [retry.Pace] spaces rounds that end early.
//
// Each round blocks as [Client.Session] does. A missing connection is an error before the first round; later it is
// waited out. The loop ends after an error. It is for waits. Use [Client.SessionsWhileOpen] for work that lasts
// as long as the client.
//
// Errors: as [Client.Session]; [ErrClosed], and the error of ctx's end, also in a pause.
func (c *Client) Sessions(ctx context.Context) iter.Seq2[Session, error] {
	return c.sessions(ctx, func(begun bool, err error) (end error) {
		if begun && session.ShouldStartOver(ctx, err) {
			return nil
		}
		return err
	})
}

// SessionsWhileOpen is [Client.Sessions] for work in the background that goes on for as long as the client lives. It
// yields each session, and blocks between two: nothing but the end of the client or of ctx ends the loop, however long
// no server can be reached, and whatever the servers lack.
//
// blocked, unless it is nil, hears why there is no session for now, if that is no outage: [ErrNoChroot], at each
// connection timeout. The loop's goroutine calls it, and goes on.
//
// Errors: [Client.Err] once that is not nil; the error of ctx's end.
func (c *Client) SessionsWhileOpen(ctx context.Context, blocked func(reason error)) iter.Seq2[Session, error] {
	return c.sessions(ctx, func(_ bool, err error) (end error) {
		switch over := c.Err(); {
		case over != nil:
			return over
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return err
		case blocked != nil && !session.Outage(err):
			blocked(err)
		}
		return nil
	})
}

// sessions yields sessions until end, asked about the error of a round without one, returns the loop's error.
func (c *Client) sessions(ctx context.Context, end func(begun bool, err error) error) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		var pace retry.Pace
		for begun := false; ; {
			began := time.Now()
			s, err := c.Session(ctx)
			if err != nil {
				if err = end(begun, err); err != nil {
					yield(nil, err)
					return
				}
				_ = pace.WaitOrDone(ctx, time.Since(began), c.core.closing) // the connection timeout may be short
				continue
			}
			begun = true
			began = time.Now()
			if !yield(s, nil) {
				return
			}
			_ = pace.WaitOrDone(ctx, time.Since(began), c.core.closing) // Session returns the error
		}
	}
}
