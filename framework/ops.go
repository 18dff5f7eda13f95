package framework

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// All operations of a Client follow one rule. They block until the server has answered, and try again under the
// client's retry policy, within one budget for the whole operation, if there is no connection, it breaks, the session
// ends or the server is overloaded. A try waits for a connection for at most the connection timeout, and none after one
// that waited so long. ctx ends an operation at any point. Every error is an [*OpError] that unwraps to the server's
// answer (zk.ErrNoNode and so on), or to a [*retry.Error] with the last failure, such as a [*ConnectError]. After an
// error that is not the server's answer, the operation may have been executed.

// A try works on one session. ambiguous says that an earlier one may have been executed.
type try func(ctx context.Context, s *live.Session, absolute string, ambiguous bool) error

// do runs an operation under that rule, and reports it.
func (c *Client) do(ctx context.Context, op, path string, f try) error {
	if c.core.cfg.trace.Operation != nil {
		return c.doTraced(ctx, op, path, f)
	}
	return c.doRetrying(ctx, op, path, f)
}

func (c *Client) doRetrying(ctx context.Context, op, path string, f try) error {
	absolute, err := c.AbsolutePath(path)
	if err != nil {
		return &OpError{Op: op, Path: path, Err: err}
	}
	until, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.core.life, func() { cancel(ErrClosed) })() // also in the pause before a retry
	ambiguous := false
	patience := c.core.cfg.connectionTimeout
	err = retry.Do(until, c.core.cfg.policy, func(until context.Context) error {
		s, err := c.core.attachedSession(until, patience)
		switch {
		case err == nil:
		case session.Outage(err) && until.Err() == nil:
			patience = 0 // an operation waits for a connection once, whatever the policy
			return err
		default:
			return retry.Permanent(err)
		}
		err = f(ctx, s, absolute, ambiguous)
		var final *finalError
		switch {
		case errors.As(err, &final):
			return retry.Permanent(final.err)
		case err == nil || !live.Retryable(err):
			return retry.Permanent(err)
		}
		unexecuted := errors.Is(err, live.ErrNotSent) || errors.Is(err, transport.ErrThrottled)
		ambiguous = ambiguous || !unexecuted
		return err
	})
	if err == nil {
		return nil
	}
	var gaveUp *retry.Error
	if ctx.Err() == nil && errors.As(err, &gaveUp) && errors.Is(gaveUp.Cause, ErrClosed) {
		gaveUp.Cause = ErrClosed // not context.Canceled: the caller's context goes on
	}
	return &OpError{Op: op, Path: path, Err: err}
}

// Get returns a node's data and Stat.
//
// Curator: CuratorFramework.getData().
func (c *Client) Get(ctx context.Context, path string) (data []byte, stat *zk.Stat, err error) {
	err = c.do(ctx, "get", path, func(ctx context.Context, s *live.Session, absolute string, _ bool) (err error) {
		data, stat, err = s.Get(ctx, absolute)
		return err
	})
	return data, stat, err
}

// Exists returns a node's Stat, or nil if there is no node.
//
// Curator: CuratorFramework.checkExists().
func (c *Client) Exists(ctx context.Context, path string) (stat *zk.Stat, err error) {
	err = c.do(ctx, "exists", path, func(ctx context.Context, s *live.Session, absolute string, _ bool) (err error) {
		stat, err = s.Exists(ctx, absolute)
		return err
	})
	return stat, err
}

// Children returns the names of a node's children, unsorted, and the node's Stat.
//
// Curator: CuratorFramework.getChildren().
func (c *Client) Children(ctx context.Context, path string) (children []string, stat *zk.Stat, err error) {
	err = c.do(ctx, "children", path, func(ctx context.Context, s *live.Session, absolute string, _ bool) (err error) {
		children, stat, err = s.Children(ctx, absolute)
		return err
	})
	return children, stat, err
}

// Set replaces a node's data if it has the given version; -1 is any.
//
// After a retry, zk.ErrBadVersion may be due to this call's own change.
//
// Curator: CuratorFramework.setData().
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32) (stat *zk.Stat, err error) {
	err = c.do(ctx, "set", path, func(ctx context.Context, s *live.Session, absolute string, _ bool) (err error) {
		stat, err = s.Set(ctx, absolute, data, version)
		return err
	})
	return stat, err
}

// Sync lets the client's server catch up with the leader, so that later reads see all earlier writes.
//
// Curator: CuratorFramework.sync().
func (c *Client) Sync(ctx context.Context, path string) error {
	return c.do(ctx, "sync", path, func(ctx context.Context, s *live.Session, absolute string, _ bool) error {
		return s.Sync(ctx, absolute)
	})
}

// ACL returns a node's ACL and Stat, whose Aversion counts the changes of the ACL.
//
// Curator: CuratorFramework.getACL().
func (c *Client) ACL(ctx context.Context, path string) (acl []zk.ACL, stat *zk.Stat, err error) {
	err = c.do(ctx, "ACL", path, func(ctx context.Context, s *live.Session, absolute string, _ bool) (err error) {
		acl, stat, err = s.ACL(ctx, absolute)
		return err
	})
	return acl, stat, err
}

// SetACL replaces a node's ACL if that has the given version; -1 is any.
//
// Curator: CuratorFramework.setACL().
func (c *Client) SetACL(ctx context.Context, path string, acl []zk.ACL, version int32) (stat *zk.Stat, err error) {
	err = c.do(ctx, "set ACL", path, func(ctx context.Context, s *live.Session, absolute string, _ bool) (err error) {
		stat, err = s.SetACL(ctx, absolute, acl, version)
		return err
	})
	return stat, err
}
