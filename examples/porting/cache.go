package porting

import (
	"context"
	"path"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
)

// Settings is Cache.settings.
func Settings(ctx context.Context, client *framework.Client, use func(settings string)) (*cache.CuratorCache, error) {
	settings := cache.NewCuratorCache(client, "/settings", cache.WithDepth(0))
	settings.OnEvent(func(event cache.Event) {
		switch event.Kind {
		case cache.Created, cache.Changed:
			use(string(event.New.Data))
		case cache.Deleted:
			use("default")
		case cache.Synced, cache.Stale:
		}
	})
	err := settings.Start(ctx)
	return settings, err
}

// Workers is Cache.workers. It returns when came has all, or is about to: Java's method returns before.
func Workers(
	ctx context.Context, client *framework.Client, came, left, state func(text string),
) (*cache.CuratorCache, error) {
	workers := cache.NewCuratorCache(client, "/workers", cache.WithDepth(1))
	workers.OnEvent(func(event cache.Event) {
		switch node := event.Node(); {
		case event.Kind == cache.Synced:
			state("complete")
		case event.Kind == cache.Stale:
			state("old, maybe")
		case node.Path == "/workers": // a PathChildrenCache reports the children alone
		case event.Kind == cache.Created:
			came(string(node.Data))
		case event.Kind == cache.Deleted:
			left(string(node.Data))
		}
	})
	err := workers.Start(ctx)
	return workers, err
}

// Present is Cache.present.
func Present(workers *cache.CuratorCache) (all []string) {
	for worker := range workers.Children("/workers") {
		all = append(all, string(worker.Data))
	}
	return all
}

// Orders is Cache.orders.
func Orders(ctx context.Context, client *framework.Client) (*cache.CuratorCache, error) {
	orders := cache.NewCuratorCache(client, "/orders", cache.WithDepth(2), cache.WithoutData(),
		cache.WithFilter(func(relative string) bool { return path.Base(relative) != "archive" }))
	err := orders.Start(ctx)
	return orders, err
}

// Region is Cache.region.
func Region(orders *cache.CuratorCache, name string) (names []string) {
	for order := range orders.Children("/orders/" + name) {
		names = append(names, path.Base(order.Path))
	}
	return names
}

// Changes is Cache.changes.
func Changes(
	ctx context.Context, client *framework.Client, changed func(before, now string), deleted func(before string),
) (*cache.CuratorCache, error) {
	tokens := cache.NewCuratorCache(client, "/tokens")
	initialized := false // OnEvent calls one function at a time
	tokens.OnEvent(func(event cache.Event) {
		switch {
		case event.Kind == cache.Synced:
			initialized = true
		case !initialized:
		case event.Kind == cache.Changed:
			changed(string(event.Old.Data), string(event.New.Data))
		case event.Kind == cache.Deleted:
			deleted(string(event.Old.Data))
		}
	})
	err := tokens.Start(ctx)
	return tokens, err
}

// Bytes is Cache.bytes.
func Bytes(c *cache.CuratorCache) (sum int64) {
	for node := range c.All() {
		sum += int64(len(node.Data))
	}
	return sum
}
