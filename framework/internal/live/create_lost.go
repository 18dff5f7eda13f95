package live

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
)

// A lostTry is a try to create a node whose answer did not come.
type lostTry struct {
	name     string // with its GUID; the server may have added a number
	session  int64
	searched bool // behind a fence
}

// find looks for the nodes of the tries whose answers were lost. The lowest of this session is the creation's; the
// others are removed. A node of another session would vanish with that.
func (m *maker) find(ctx context.Context, c *Creation) (session.CreatedNode, error) {
	nodes, children, err := m.listLost(ctx, c)
	if err != nil {
		return session.CreatedNode{}, err
	}
	var found session.CreatedNode
	for _, path := range nodes {
		stat, err := m.exists(ctx, path)
		switch {
		case err != nil:
			return session.CreatedNode{}, m.orBroken(err)
		case stat == nil: // not executed, or removed meanwhile
		case c.ephemeral() && stat.EphemeralOwner != m.sessionID():
			m.removals.remove(path, false)
			c.known(path)
		case found.Stat == nil:
			found = session.CreatedNode{Path: path, Stat: stat, Children: children}
		default:
			later := path
			if stat.Czxid < found.Stat.Czxid {
				later, found = found.Path, session.CreatedNode{Path: path, Stat: stat, Children: children}
			}
			m.removals.remove(later, !c.ephemeral())
			m.orphans.report(later) // one of two tries was executed after the search for it
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
func (m *maker) listLost(ctx context.Context, c *Creation) (nodes, children []string, err error) {
	if !c.sequential() {
		for _, try := range c.lost {
			nodes = append(nodes, join(c.Dir, try.name))
		}
		return nodes, nil, m.awaitFence(ctx)
	}
	children, err = m.listAfterAll(ctx, c.Dir)
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

// isLost reports whether a node belongs to a try whose fate is unknown.
func (c *Creation) isLost(name string) bool {
	return slices.ContainsFunc(c.lost, func(try lostTry) bool { return strings.HasPrefix(name, try.name) })
}

// known forgets the attempt that created path. Its outcome is settled, because a server executes a request at most
// once.
func (c *Creation) known(path string) {
	c.lost = slices.DeleteFunc(c.lost, func(try lostTry) bool { return strings.HasPrefix(path, join(c.Dir, try.name)) })
}

// listAfterAll lists a directory as it is after all that the session asked for on earlier connections.
func (m *maker) listAfterAll(ctx context.Context, dir string) (children []string, err error) {
	var found []string
	var behind error
	fence := m.fence(func(err error) { behind = err })
	if err := m.beSure(ctx, fence); err != nil {
		return nil, m.orBroken(err)
	}
	err = m.call(ctx, func(finish func(error)) []*transport.Call {
		return []*transport.Call{fence, transport.Children(dir, false, func(children []string, _ *zk.Stat, err error) {
			found = children
			if behind != nil && !errors.Is(err, transport.ErrBroken) {
				err = behind
			}
			finish(err)
		})}
	})
	if err != nil {
		return nil, m.orBroken(err)
	}
	m.orphans.listed(dir, found)
	return found, nil
}
