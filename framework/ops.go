package framework

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// All operations of a Client follow one rule. They block until the server has answered, waiting for a connection for at most
// the connection timeout, and try again under the client's retry policy, within one budget for the whole operation, if the
// connection breaks, the session ends or the server is overloaded. ctx ends them at any point. Every error is an [*OpError]
// that unwraps to the server's answer (zk.ErrNoNode and so on), to a [*ConnectError], or to a [*retry.Error] with the last
// failure in it. After an error that is not the server's own answer, the operation may have been executed.

// do runs one operation under that rule. f works on one session; ambiguous tells it whether an earlier try may have been
// executed.
func (c *Client) do(ctx context.Context, op, path string, f func(s *Session, absolute string, ambiguous bool) error) error {
	absolute, err := c.AbsolutePath(path)
	if err != nil {
		return &OpError{Op: op, Path: path, Err: err}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.core.life, func() { cancel(ErrClosed) })() // also in the pause before a retry
	ambiguous := false
	err = retry.Do(ctx, c.core.cfg.policy, func(ctx context.Context) error {
		s, err := c.Session(ctx)
		if err != nil {
			return retry.Permanent(err)
		}
		err = f(s, absolute, ambiguous)
		var final *finalError
		switch {
		case errors.As(err, &final):
			return retry.Permanent(final.err)
		case err == nil || !retryable(err):
			return retry.Permanent(err)
		}
		ambiguous = ambiguous || !errors.Is(err, errDetached)
		return err
	})
	if err != nil {
		return &OpError{Op: op, Path: path, Err: err}
	}
	return nil
}

// Get returns a node's data and Stat.
//
// Curator: CuratorFramework.getData().
func (c *Client) Get(ctx context.Context, path string) (data []byte, stat *zk.Stat, err error) {
	err = c.do(ctx, "get", path, func(s *Session, absolute string, _ bool) (err error) {
		data, stat, err = s.Get(ctx, absolute)
		return err
	})
	return data, stat, err
}

// Exists returns a node's Stat, or nil if there is no node.
//
// Curator: CuratorFramework.checkExists().
func (c *Client) Exists(ctx context.Context, path string) (stat *zk.Stat, err error) {
	err = c.do(ctx, "exists", path, func(s *Session, absolute string, _ bool) (err error) {
		stat, err = s.Exists(ctx, absolute)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return err
	})
	return stat, err
}

// Children returns the names of a node's children, unsorted, and the node's Stat.
//
// Curator: CuratorFramework.getChildren().
func (c *Client) Children(ctx context.Context, path string) (children []string, stat *zk.Stat, err error) {
	err = c.do(ctx, "children", path, func(s *Session, absolute string, _ bool) (err error) {
		children, stat, err = s.children(ctx, absolute)
		return err
	})
	return children, stat, err
}

// Set replaces a node's data if it has the given version; -1 is any.
//
// If the connection breaks and the retry finds another version, the error is zk.ErrBadVersion although the change may be this
// call's own.
//
// Curator: CuratorFramework.setData().
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32) (stat *zk.Stat, err error) {
	err = c.do(ctx, "set", path, func(s *Session, absolute string, _ bool) (err error) {
		stat, err = s.stat(ctx, func(done func(*zk.Stat, error)) *transport.Call {
			return transport.Set(absolute, data, version, done)
		})
		return err
	})
	return stat, err
}

// Sync lets the server that the client is connected to catch up with the leader, so that later reads see everything that was
// written before.
//
// Curator: CuratorFramework.sync().
func (c *Client) Sync(ctx context.Context, path string) error {
	return c.do(ctx, "sync", path, func(s *Session, absolute string, _ bool) error {
		return s.call(ctx, func(finish func(error)) []*transport.Call { return one(transport.Sync(absolute, finish)) })
	})
}

// ACL returns who may do what with a node, and its Stat, whose Aversion counts the changes of the ACL.
//
// Curator: CuratorFramework.getACL().
func (c *Client) ACL(ctx context.Context, path string) ([]zk.ACL, *zk.Stat, error) {
	var found []zk.ACL
	var seen *zk.Stat
	err := c.do(ctx, "ACL", path, func(s *Session, absolute string, _ bool) error {
		return s.call(ctx, func(finish func(error)) []*transport.Call {
			return one(transport.GetACL(absolute, func(acl []zk.ACL, stat *zk.Stat, err error) {
				if err == nil {
					found, seen = acl, stat
				}
				finish(err)
			}))
		})
	})
	if err != nil {
		return nil, nil, err
	}
	return found, seen, nil
}

// SetACL replaces who may do what with a node if its ACL has the given version; -1 is any.
//
// Curator: CuratorFramework.setACL().
func (c *Client) SetACL(ctx context.Context, path string, acl []zk.ACL, version int32) (stat *zk.Stat, err error) {
	err = c.do(ctx, "set ACL", path, func(s *Session, absolute string, _ bool) (err error) {
		stat, err = s.stat(ctx, func(done func(*zk.Stat, error)) *transport.Call {
			return transport.SetACL(absolute, acl, version, done)
		})
		return err
	})
	return stat, err
}

// A DeleteOption changes how a node is deleted.
type DeleteOption func(*deletion)

type deletion struct {
	version    int32
	guaranteed bool
}

// WithVersion deletes the node only if it has that version.
//
// Curator: DeleteBuilder.withVersion().
func WithVersion(version int32) DeleteOption { return func(d *deletion) { d.version = version } }

// Guaranteed goes on deleting in the background if Delete fails for any reason but the server's own answer, until the node is
// gone or the client is closed. It is meant for nodes with unique names: a node that somebody makes under the same name in the
// meantime is deleted as well.
//
// Curator: DeleteBuilder.guaranteed().
func Guaranteed() DeleteOption { return func(d *deletion) { d.guaranteed = true } }

// Delete deletes a node without children. If an earlier try of the same call may have been executed, a node that is missing
// then counts as deleted.
//
// Errors: zk.ErrNoNode, zk.ErrNotEmpty, zk.ErrBadVersion, and those of all operations.
//
// Curator: CuratorFramework.delete().
func (c *Client) Delete(ctx context.Context, path string, opts ...DeleteOption) error {
	d := deletion{version: -1}
	for _, opt := range opts {
		opt(&d)
	}
	if d.guaranteed && d.version != -1 {
		return &OpError{Op: "delete", Path: path, Err: errGuaranteedVersion}
	}
	err := c.do(ctx, "delete", path, func(s *Session, absolute string, ambiguous bool) error {
		err := s.call(ctx, func(finish func(error)) []*transport.Call {
			return one(transport.Delete(absolute, d.version, finish))
		})
		if ambiguous && errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return err
	})
	if err != nil && d.guaranteed && !definite(err) && !errors.Is(err, ErrInvalidPath) {
		c.deleteLater(path)
	}
	return err
}

var errGuaranteedVersion = errors.New("a guaranteed delete cannot ask for a version")

func (c *Client) deleteLater(path string) {
	absolute, err := c.AbsolutePath(path)
	if err != nil {
		return
	}
	c.core.later(leftovers{removals: []string{absolute}})
}

// later gives work to the present session, or, if that is over, to the next. Which of the two is decided in one step with the
// handing over, so that nothing is given to a session that has just handed over what it had.
func (c *core) later(work leftovers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.session.adopt(work) {
		c.carried.removals = append(c.carried.removals, work.removals...)
		c.carried.orphans = append(c.carried.orphans, work.orphans...)
	}
}
