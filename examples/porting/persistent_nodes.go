package porting

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/nodes"
)

// Register is PersistentNodes.register. It returns when the node is there: Java's method returns before.
func Register(
	ctx context.Context, client *framework.Client, address string, created func(path string),
) (*nodes.PersistentNode, error) {
	node := nodes.NewPersistentNode(client, "/services/"+address, []byte("up"))
	node.OnChange(func(there bool) {
		if there {
			created(node.Path())
		}
	})
	err := node.Start(ctx)
	return node, err
}

// Drain is PersistentNodes.drain. It returns when the node has the data.
func Drain(ctx context.Context, node *nodes.PersistentNode) error {
	return node.Set(ctx, []byte("draining"))
}

// Lease is PersistentNodes.lease.
func Lease(ctx context.Context, client *framework.Client, name string) (*nodes.PersistentNode, error) {
	node := nodes.NewPersistentNode(client, "/tenants/"+name, nil,
		nodes.WithMode(framework.PersistentWithTTL), nodes.WithTTL(time.Hour), nodes.Overwriting())
	err := node.Start(ctx)
	return node, err
}

// A GroupMember is Java's: a node, and a cache of the nodes beside it.
type GroupMember struct {
	node    *nodes.PersistentNode
	members *cache.CuratorCache
}

// Join is PersistentNodes.join. It returns when the member is there, and sees the others.
func Join(ctx context.Context, client *framework.Client, id, address string) (*GroupMember, error) {
	m := &GroupMember{
		node:    nodes.NewPersistentNode(client, "/members/"+id, []byte(address)),
		members: cache.NewCuratorCache(client, "/members", cache.WithDepth(1)),
	}
	if err := m.node.Start(ctx); err != nil {
		return nil, err
	}
	if err := m.members.Start(ctx); err != nil {
		return nil, errors.Join(err, m.node.Close())
	}
	return m, nil
}

// Close is GroupMember.close().
func (m *GroupMember) Close() error { return errors.Join(m.members.Close(), m.node.Close()) }

// Members is PersistentNodes.members: the ids of those that are there.
func (m *GroupMember) Members() (ids []string) {
	for member := range m.members.Children("/members") {
		ids = append(ids, path.Base(member.Path))
	}
	return ids
}
