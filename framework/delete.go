package framework

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// A DeleteOption changes how a node is deleted.
type DeleteOption func(*deletion)

type deletion struct{ guaranteed bool }

// Guaranteed goes on deleting in the background if Delete fails for any reason but the server's own answer, until the node is
// gone or the client is closed. It is meant for nodes with unique names: a node that another client creates under the same name
// in the meantime is deleted as well. So it needs version -1.
//
// Curator: DeleteBuilder.guaranteed().
func Guaranteed() DeleteOption { return func(d *deletion) { d.guaranteed = true } }

// Delete deletes a node without children if it has the given version; -1 is any. If an earlier try of the same call may have been
// executed, a node that is missing then counts as deleted.
//
// Errors: zk.ErrNoNode, zk.ErrNotEmpty, zk.ErrBadVersion, and those of all operations.
//
// Curator: CuratorFramework.delete(), DeleteBuilder.withVersion().
func (c *Client) Delete(ctx context.Context, path string, version int32, opts ...DeleteOption) error {
	var d deletion
	for _, opt := range opts {
		opt(&d)
	}
	if d.guaranteed && version != -1 {
		return &OpError{Op: "delete", Path: path, Err: errGuaranteedVersion}
	}
	err := c.do(ctx, "delete", path, func(s *Session, absolute string, ambiguous bool) error {
		err := s.Delete(ctx, absolute, version)
		if ambiguous && errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return err
	})
	if err != nil && d.guaranteed && !session.Definite(err) && !errors.Is(err, ErrInvalidPath) {
		c.deleteLater(path)
	}
	return err
}

var errGuaranteedVersion = errors.New("a guaranteed delete takes no version but -1")

func (c *Client) deleteLater(path string) {
	absolute, err := c.AbsolutePath(path)
	if err != nil {
		return
	}
	c.core.later(session.Leftovers{Removals: []string{absolute}})
}

// later gives work to the present session, or, if that is over, to the next. Which of the two is decided in one step with the
// handing over, so that nothing is given to a session that has just handed over what it had.
func (c *core) later(work session.Leftovers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.session.Adopt(work) {
		c.carried.Add(work)
	}
}
