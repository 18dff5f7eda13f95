//go:build linux

package interop_test

import (
	"math"
	"strings"

	"github.com/gocurator/curator/integration/interop/godriver"
)

// Caches of Java Curator; that of this library is ours.
const (
	curatorCache = "CuratorCache"
	treeCache    = "TreeCache"
)

// A replica is a tree as one cache has it.
type replica struct {
	kind    string
	link    *proxy
	log     *cacheLog
	nodes   func() nodeTree // what the cache has; a cache of Java has reported all that led to it
	session func() string
}

// below makes a path of the server one below the root of a cache.
func below(root, node string) string {
	if node == root {
		return "/"
	}
	return strings.TrimPrefix(node, root)
}

// javaCache starts a cache of Java Curator, of so many levels; of all that there are for 0.
func (w *world) javaCache(kind string, link *proxy, root string, levels int) *replica {
	w.t.Helper()
	depth := levels - 1
	if levels == 0 {
		depth = math.MaxInt32
	}
	c := w.clientIn(fleet.get(w.t, java), java, link.addr())
	k := c.contender(godriver.Order{Recipe: strings.ToLower(kind), Path: root, Max: depth})
	r := &replica{kind: kind, link: link, log: newCacheLog(kind)}
	fleet.events.Store(k.who, func(a godriver.Answer) {
		for _, e := range a.Cache {
			if e.Path != "" {
				e.Path = below(root, e.Path)
			}
			r.log.add(e)
		}
	})
	report := func() godriver.Answer { return w.done(k.process, k.order("report")) }
	r.session = func() string { return report().Session }
	r.nodes = func() nodeTree {
		tree := nodeTree{}
		for _, n := range report().Cache {
			tree[below(root, n.Path)] = n
		}
		return tree
	}
	k.acquire(within(patience))
	w.t.Cleanup(func() { k.release() })
	return r
}
