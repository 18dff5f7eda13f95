package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A lostTry is a try to create a node whose answer did not come.
type lostTry struct {
	name     string // with its GUID; the server may have added a number
	session  int64
	searched bool // behind a fence
}

// find looks for the nodes of the tries whose answers were lost. The lowest of this session is the creation's; the
// others are removed. A node of another session would vanish with that.
func (s *Session) find(ctx context.Context, c *Creation) (Entry, error) {
	nodes, children, err := s.listLost(ctx, c)
	if err != nil {
		return Entry{}, err
	}
	var found Entry
	for _, path := range nodes {
		stat, err := s.Exists(ctx, path)
		switch {
		case err != nil:
			return Entry{}, s.orBroken(err)
		case stat == nil: // not executed, or removed meanwhile
		case c.ephemeral() && stat.EphemeralOwner != s.ID():
			s.remove(path, false)
			c.known(path)
		case found.Stat == nil:
			found = Entry{Path: path, Stat: stat, Children: children}
		default:
			later := path
			if stat.Czxid < found.Stat.Czxid {
				later, found = found.Path, Entry{Path: path, Stat: stat, Children: children}
			}
			s.remove(later, !c.ephemeral())
			s.reportOrphan(later) // one of two tries was executed after the search for it
			c.known(later)
		}
	}
	for i := range c.lost {
		c.lost[i].searched = true
	}
	c.known(found.Path)
	return found, nil
}

// listLost returns where nodes of lost tries may be, behind all that the session asked for on earlier connections; and
// the listing, if the names alone do not tell.
func (s *Session) listLost(ctx context.Context, c *Creation) (nodes, children []string, err error) {
	if !c.sequential() {
		for _, try := range c.lost {
			nodes = append(nodes, join(c.Dir, try.name))
		}
		return nodes, nil, s.awaitFence(ctx)
	}
	children, err = s.listAfterAll(ctx, c.Dir)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil, nil
	}
	for _, name := range children {
		if c.isLost(name) {
			nodes = append(nodes, join(c.Dir, name))
		}
	}
	return nodes, children, err
}

// isLost reports whether a node is that of a try whose fate is unknown.
func (c *Creation) isLost(name string) bool {
	return slices.ContainsFunc(c.lost, func(try lostTry) bool { return strings.HasPrefix(name, try.name) })
}

// known drops the try that a node is of: a request is executed at most once.
func (c *Creation) known(path string) {
	c.lost = slices.DeleteFunc(c.lost, func(try lostTry) bool { return strings.HasPrefix(path, join(c.Dir, try.name)) })
}

// awaitFence blocks until a fence is answered.
func (s *Session) awaitFence(ctx context.Context) error {
	err := s.beSure(ctx, s.fence(func(error) {}))
	if err == nil {
		err = s.call(ctx, func(finish func(error)) []*transport.Call { return one(s.fence(finish)) })
	}
	return s.orBroken(err)
}

// listAfterAll lists a directory as it is after all that the session asked for on earlier connections.
func (s *Session) listAfterAll(ctx context.Context, dir string) (children []string, err error) {
	var found []string
	var behind error
	fence := s.fence(func(err error) { behind = err })
	if err := s.beSure(ctx, fence); err != nil {
		return nil, s.orBroken(err)
	}
	err = s.call(ctx, func(finish func(error)) []*transport.Call {
		return []*transport.Call{fence, transport.Children(dir, false, func(children []string, _ *zk.Stat, err error) {
			found = children
			if behind != nil && !errors.Is(err, transport.ErrBroken) {
				err = behind
			}
			finish(err)
		})}
	})
	if err != nil {
		return nil, s.orBroken(err)
	}
	s.sweepListed(dir, found)
	return found, nil
}

// fence is a transaction that changes nothing. A listing behind its answer shows what the servers have done of all that
// the session asked for on earlier connections: no server that is behind hides that, and no deposed leader, which would
// answer a sync. finish gets nil or why that is not so. The client need not have the right to read the root: a refusal
// is a transaction, too.
//
// Rarely, servers execute such a request even after the fence (ZooKeeper 3.5 to 3.10, S5):
//
//   - A thread of a server has read a create and stands still before it queues it. The connection breaks, and the
//     session's next one belongs to another thread. The owner check compares servers, not connections: when the first
//     thread goes on, the create passes.
//   - A server that stood still may tell the leader of a later handshake of the session first, and then pass on what it
//     had of an earlier connection.
//   - A move between observers of one follower (3.6) is none to the leader.
//
// So each try to create a node has a GUID of its own, and a try that was not found is looked for again: see orphan.
//
// No server is known that hangs up on it. For one that does it again and again, the session goes on with syncs.
func (s *Session) fence(finish func(error)) *transport.Call {
	if s.unfenced.Load() {
		return transport.Sync("/", finish)
	}
	root := join(s.cfg.Chroot, "")
	return transport.Multi([]transport.Op{transport.CheckOp(root, -1)}, func(_ []transport.OpResult, err error) {
		switch {
		case errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth): // some servers say it there
			err = nil
		case hungUp(err) && !s.unfenced.Swap(true):
			s.cfg.Transport.Logger.Warn("framework: the server hangs up on transactions, lost nodes are looked for after a sync", "error", err)
		}
		finish(err)
	})
}

// orBroken gives the connection up if the server cannot answer just now: another one may. The error is then that of a
// lost connection.
func (s *Session) orBroken(err error) error {
	if errors.Is(err, ErrConnectionLost) || errors.Is(err, ErrSessionLost) || Definite(err) || !Retryable(err) {
		return err
	}
	s.transport.Break(err)
	return fmt.Errorf("%w: %w", ErrConnectionLost, err)
}
