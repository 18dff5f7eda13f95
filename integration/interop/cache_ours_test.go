//go:build linux

package interop_test

import (
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/cache"
)

// ourCache starts a cache of this library, in this process; of so many levels, or of all that there are for 0.
func (w *world) ourCache(link *proxy, root string, levels int) *replica {
	w.t.Helper()
	client := w.ourClient(link.addr())
	var opts []cache.Option
	if levels > 0 {
		opts = append(opts, cache.WithDepth(levels-1))
	}
	c := cache.NewCuratorCache(client, root, opts...)
	ctx, cancel := await.Context(w.t.Context(), w.t, patience, "our cache to start")
	defer cancel()
	if err := c.Start(ctx); err != nil {
		w.t.Fatalf("start our cache: %v", err)
	}
	r := &replica{kind: ours, link: link, log: newCacheLog(ours)}
	stop := c.OnEvent(func(e cache.Event) { r.log.add(ourEvent(root, e)) })
	w.t.Cleanup(func() {
		stop()
		if err := c.Close(); err != nil {
			w.t.Errorf("close our cache: %v", err)
		}
	})
	r.session = func() string { return w.sessionOf(client) }
	r.nodes = func() nodeTree {
		tree := nodeTree{}
		for n := range c.All() {
			tree[below(root, n.Path)] = cacheNode(n.Data, n.Stat)
		}
		return tree
	}
	return r
}

func ourEvent(root string, e cache.Event) godriver.CacheNode {
	var event godriver.CacheNode
	if n := e.Node(); n.Path != "" {
		event = cacheNode(n.Data, n.Stat)
		event.Path = below(root, n.Path)
	}
	event.Kind = e.Kind.String()
	if e.Kind == cache.Changed {
		old := cacheNode(e.Old.Data, e.Old.Stat)
		event.Old = &old
	}
	return event
}
