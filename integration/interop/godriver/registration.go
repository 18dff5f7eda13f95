//go:build linux

package godriver

import (
	"context"
	"path"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
)

// A registration is a persistent node as a contender: to acquire is to start, to release is to close.
type registration struct{ node *nodes.PersistentNode }

func newRegistration(client *framework.Client, order Order) *registration {
	return &registration{nodes.NewPersistentNode(client, order.Path, []byte(order.Who))}
}

func (r *registration) acquire(ctx context.Context, _ Order) ([]string, int64, error) {
	if err := r.node.Start(ctx); err != nil {
		return nil, 0, err
	}
	return []string{path.Base(r.node.Path())}, 0, nil
}

func (r *registration) release(_ Order, leaving func(valid int64)) error {
	leaving(0)
	return r.node.Close()
}

func (r *registration) report(_ context.Context, order Order, a *Answer) error {
	if order.Op == "explain" {
		r.explain(a)
		return nil
	}
	a.Acquired = r.node.There()
	return nil
}
