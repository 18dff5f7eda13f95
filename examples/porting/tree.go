package porting

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// Listed is Tree.listed.
func Listed(servers func(ctx context.Context) ([]string, error), opts ...framework.Option) (*framework.Client, error) {
	return framework.NewClient("", append([]framework.Option{framework.WithServers(servers)}, opts...)...)
}

// Put is Tree.put.
func Put(ctx context.Context, client *framework.Client, path string, data []byte) (created bool, err error) {
	_, stat, err := client.Create(ctx, path, data, framework.OrSetData(-1), framework.CreatingParentsIfNeeded())
	return err == nil && stat.Version == 0, err
}

// Clear is Tree.clear.
func Clear(ctx context.Context, client *framework.Client, path string) error {
	err := client.Delete(ctx, path, -1, framework.Guaranteed(), framework.DeletingChildrenIfNeeded())
	if errors.Is(err, zk.ErrNoNode) {
		return nil // there is nothing to clear
	}
	return err
}

// Follow is Tree.follow. It runs until ctx ends; data is nil if there is no node.
func Follow(ctx context.Context, client *framework.Client, path string, use func(data []byte)) error {
	for view, err := range client.Watch(ctx, path) {
		if err != nil {
			return err
		}
		use(view.Data)
	}
	return nil
}

// Names is Tree.names. It goes on in later sessions, and after the node was deleted and created again.
func Names(ctx context.Context, client *framework.Client, path string, use func(names []string)) error {
	for view, err := range client.WatchChildren(ctx, path) {
		if err != nil {
			return err
		}
		use(view.Children)
	}
	return nil
}
