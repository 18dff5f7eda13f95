//go:build linux

package interop_test

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/integration/interop/godriver"
)

// A nodeTree has nodes by their paths below the root of a cache, which is "/".
type nodeTree map[string]godriver.CacheNode

// same reports whether two nodes are the same version of one node. The Stat of a node also changes with its children,
// and no cache reports that.
func same(a, b godriver.CacheNode) bool {
	return a.Data == b.Data && a.Czxid == b.Czxid && a.Mzxid == b.Mzxid && a.Version == b.Version
}

func printed(n godriver.CacheNode) string {
	return fmt.Sprintf("%q version %d created by %d set by %d", n.Data, n.Version, n.Czxid, n.Mzxid)
}

// apart lists what two trees do not have in common; it is empty if they are equal.
func apart(got, want nodeTree) string {
	var text strings.Builder
	both := maps.Clone(want)
	maps.Copy(both, got)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		g, gotIt := got[name]
		w, wantIt := want[name]
		switch {
		case gotIt && !wantIt:
			fmt.Fprintf(&text, "%s: got %s, want no node\n", name, printed(g))
		case !gotIt:
			fmt.Fprintf(&text, "%s: got no node, want %s\n", name, printed(w))
		case !same(g, w):
			fmt.Fprintf(&text, "%s: got %s, want %s\n", name, printed(g), printed(w))
		}
	}
	return text.String()
}

// differences are the events, by path, that lead from one tree to another: those of a cache that reads each node once.
func differences(before, after nodeTree) map[string][]string {
	events := map[string][]string{}
	for name, old := range before {
		switch now, there := after[name]; {
		case !there:
			events[name] = []string{"deleted"}
		case now.Czxid != old.Czxid:
			events[name] = []string{"deleted", "created " + now.Data}
		case !same(now, old):
			events[name] = []string{"changed " + now.Data}
		}
	}
	for name, now := range after {
		if _, there := before[name]; !there {
			events[name] = []string{"created " + now.Data}
		}
	}
	return events
}

// nodes reads what the server has at a path and below it, down to a number of levels, and shows to everybody.
func (w *world) nodes(root string, levels int) nodeTree {
	w.t.Helper()
	tree := nodeTree{}
	w.readNodes(tree, root, "/", levels)
	return tree
}

func (w *world) readNodes(tree nodeTree, root, name string, levels int) {
	w.t.Helper()
	node := path.Join(root, name)
	data, stat, err := w.observer.Get(node)
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth) {
		return
	}
	if err != nil {
		w.t.Fatalf("read %s: %v", node, err)
	}
	tree[name] = cacheNode(data, stat)
	if levels == 1 {
		return
	}
	for _, child := range w.children(node) {
		w.readNodes(tree, root, path.Join(name, child), levels-1)
	}
}

func cacheNode(data []byte, stat *zk.Stat) godriver.CacheNode {
	return godriver.CacheNode{
		Data: string(data), Czxid: stat.Czxid, Mzxid: stat.Mzxid, Pzxid: stat.Pzxid,
		Version: stat.Version, Cversion: stat.Cversion,
	}
}
