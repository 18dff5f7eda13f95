package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/live"
)

// A DeleteOption changes how a node is deleted.
type DeleteOption func(*deletion)

type deletion struct {
	guaranteed, children bool
	problem              error // what is wrong with the options
}

// Guaranteed goes on deleting in the background if Delete fails for any reason but the server's answer, until the node
// is gone or the client is closed. It is for unique names: a node that another client creates under the name meanwhile
// is deleted as well. So it needs version -1.
//
// Curator: DeleteBuilder.guaranteed().
func Guaranteed() DeleteOption { return func(d *deletion) { d.guaranteed = true } }

// DeletingChildrenIfNeeded deletes the node's descendants as well, of all owners, ephemeral nodes included. The version
// is the node's alone; if it does not match, nothing is deleted.
//
// It is not one step: the descendants go level by level, from the bottom, by at most 64 requests at a time, each with
// the retry policy for itself. Delete also deletes what other clients create there meanwhile, until it finds nothing,
// or ctx ends. It needs the permission to read each node that has children. An error names its node; what was deleted
// before stays deleted. The root, the client's chroot and /zookeeper are refused with [ErrInvalidPath].
//
// Curator: DeleteBuilder.deletingChildrenIfNeeded().
func DeletingChildrenIfNeeded() DeleteOption { return func(d *deletion) { d.children = true } }

// Delete deletes a node without children if it has the given version; -1 is any. After a try that may have been
// executed, a missing node counts as deleted.
//
// Errors: zk.ErrNoNode, zk.ErrNotEmpty, zk.ErrBadVersion, and those of all operations.
//
// Curator: CuratorFramework.delete(), DeleteBuilder.withVersion().
func (c *Client) Delete(ctx context.Context, path string, version int32, opts ...DeleteOption) error {
	var d deletion
	d.problem = apply(&d, opts)
	if err := c.checkDeletion(path, version, d); err != nil {
		return &OpError{Op: "delete", Path: path, Err: err}
	}
	deleted, later := c.deleteNode, c.deleteLater
	if d.children {
		deleted, later = c.deleteTree, c.deleteTreeLater
	}
	err := deleted(ctx, path, version)
	if err != nil && d.guaranteed && !live.IsAnswer(err) && !errors.Is(err, ErrInvalidPath) {
		later(path)
	}
	return err
}

var errGuaranteedVersion = errors.New("a guaranteed delete takes no version but -1")

// checkDeletion refuses what would be half done, or what the client stands on.
func (c *Client) checkDeletion(path string, version int32, d deletion) error {
	switch {
	case d.problem != nil:
		return d.problem
	case d.guaranteed && version != -1:
		return errGuaranteedVersion
	case !d.children:
		return nil
	}
	absolute, err := c.AbsolutePath(path)
	switch {
	case err != nil:
		return err
	case absolute == "/" || absolute == "/zookeeper":
		return fmt.Errorf("%w: the ensemble needs %s", ErrInvalidPath, absolute)
	case absolute == c.core.cfg.chroot:
		return fmt.Errorf("%w: it is the chroot of the connect string, without which no client connects", ErrInvalidPath)
	default:
		return nil
	}
}

func (c *Client) deleteNode(ctx context.Context, path string, version int32) error {
	return c.do(ctx, "delete", path, func(ctx context.Context, s *live.Session, absolute string, ambiguous bool) error {
		err := s.Delete(ctx, absolute, version)
		if ambiguous && errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return err
	})
}

func (c *Client) deleteLater(path string) {
	absolute, err := c.AbsolutePath(path)
	if err != nil {
		return
	}
	c.core.later(live.Backlog{Removals: []string{absolute}})
}

// later gives work to the present session, or, if that is over, to the next: in one step, so that no session gets work
// after it has handed over what it had.
func (c *core) later(work live.Backlog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.session.Adopt(work) {
		c.carried.Add(work)
	}
}
