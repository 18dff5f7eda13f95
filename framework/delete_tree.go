package framework

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/retry"
)

// requestsInFlight bounds the requests of one tree. More would hold up others on the connection, renewals of leases
// among them.
const requestsInFlight = 64

// deleteTree tries the node itself first: most often it has no children, and a version that does not match must save
// them.
func (c *Client) deleteTree(ctx context.Context, path string, version int32) error {
	err := c.deleteNode(ctx, path, version)
	var pace retry.Pace // other clients may create nodes for as long as they like
	for errors.Is(err, zk.ErrNotEmpty) {
		began := time.Now()
		if err = c.deleteBelow(ctx, path); err != nil {
			return &OpError{Op: "delete", Path: path, Err: err}
		}
		err = c.deleteNode(ctx, path, version)
		if errors.Is(err, zk.ErrNoNode) { // another client was faster
			return nil
		}
		if errors.Is(err, zk.ErrNotEmpty) {
			if err := pace.Wait(ctx, time.Since(began)); err != nil {
				return &OpError{Op: "delete", Path: path, Err: err}
			}
		}
	}
	return err
}

// deleteBelow deletes what is below a node, once: nodes that are created meanwhile may stay, with all above them. On
// the way down it tries to delete each node, and so finds those with children; a leaf costs one request. On the way up
// it deletes those.
func (c *Client) deleteBelow(ctx context.Context, path string) error {
	var levels [][]string
	for parents := []string{path}; len(parents) > 0; {
		below, err := c.childrenOf(ctx, parents)
		if err != nil {
			return err
		}
		if parents, err = c.deleteLeaves(ctx, below); err != nil {
			return err
		}
		levels = append(levels, parents)
	}
	for _, level := range slices.Backward(levels) {
		if _, err := c.deleteLeaves(ctx, level); err != nil {
			return err
		}
	}
	return nil
}

// childrenOf returns the paths of all children. A node that is gone has none.
func (c *Client) childrenOf(ctx context.Context, parents []string) (paths []string, err error) {
	var mu ranked.Mutex[ranked.Leaf, Client]
	err = each(ctx, parents, func(ctx context.Context, path string) error {
		names, _, err := c.Children(ctx, path)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		for _, name := range names {
			paths = append(paths, below(path, name))
		}
		return err
	})
	return paths, err
}

func below(path, name string) string {
	if path == "/" {
		return path + name
	}
	return path + "/" + name
}

// deleteLeaves deletes the nodes without children, and returns the others.
func (c *Client) deleteLeaves(ctx context.Context, paths []string) (parents []string, err error) {
	var mu ranked.Mutex[ranked.Leaf, Client]
	err = each(ctx, paths, func(ctx context.Context, path string) error {
		err := c.deleteNode(ctx, path, -1)
		switch {
		case errors.Is(err, zk.ErrNotEmpty):
			mu.Lock()
			defer mu.Unlock()
			parents = append(parents, path)
			return nil
		case errors.Is(err, zk.ErrNoNode):
			return nil
		default:
			return err
		}
	})
	return parents, err
}

// each calls f for all paths, some at a time, until the first error.
func each(ctx context.Context, paths []string, f func(ctx context.Context, path string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(requestsInFlight)
	for _, path := range paths {
		if ctx.Err() != nil {
			break // either one of these failed, or the caller's next request will
		}
		group.Go(func() error { return f(ctx, path) })
	}
	return group.Wait() //nolint:wrapcheck // an OpError that names the path
}

// A treeRemovals is the trees to delete in the background, one at a time, by a goroutine that exists while there are
// any. The zero value is ready for use.
type treeRemovals struct {
	mu      ranked.Mutex[ranked.Leaf, treeRemovals]
	waiting []string // absolute paths; the first is under way
	closed  bool
	running sync.WaitGroup
}

// add queues a tree, unless it waits already, and reports whether to start the goroutine.
func (r *treeRemovals) add(path string) (start bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || slices.Contains(r.waiting, path) {
		return false
	}
	r.waiting = append(r.waiting, path)
	if start = len(r.waiting) == 1; start {
		r.running.Add(1)
	}
	return start
}

// next returns the tree after the one that is done; "" ends the goroutine.
func (r *treeRemovals) next() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting = r.waiting[1:]; len(r.waiting) == 0 {
		return ""
	}
	return r.waiting[0]
}

// close waits for the goroutine, whose context has ended. Nothing is added from then on.
func (r *treeRemovals) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.running.Wait()
}

func (c *Client) deleteTreeLater(path string) {
	absolute, err := c.AbsolutePath(path)
	if err == nil && c.core.trees.add(absolute) {
		go c.core.deleteTrees(absolute)
	}
}

func (c *core) deleteTrees(path string) {
	defer c.trees.running.Done()
	for ; path != ""; path = c.trees.next() {
		err := c.deleteTree(path)
		if err != nil && c.life.Err() == nil {
			c.cfg.logger.Warn("framework: node could not be removed", "path", path, "error", err)
			c.removalFailed(path, err)
		}
	}
}

// deleteTree tries until the tree is gone, a server refuses, or the client can do nothing any more.
func (c *core) deleteTree(absolute string) error {
	var pace retry.Pace
	for {
		began := time.Now()
		err := c.root.deleteTree(c.life, c.root.RelativePath(absolute), -1)
		var disconnected *DisconnectError
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return nil
		case err == nil || live.IsAnswer(err) || errors.Is(err, ErrInvalidPath) || errors.As(err, &disconnected) || c.refusal() != nil:
			return err
		}
		if err := pace.Wait(c.life, time.Since(began)); err != nil {
			return err
		}
	}
}
