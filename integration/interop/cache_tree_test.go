//go:build linux

package interop_test

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

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

// A cacheLog is what one cache has reported, and the tree that this describes.
type cacheLog struct {
	kind string

	mu       sync.Mutex
	events   []godriver.CacheNode // with paths below the root; those of the whole cache have none
	tree     nodeTree
	problems []string
	echoed   int              // TreeCache: events that were repeated
	mistaken map[string]int64 // CuratorCache: the czxids of nodes that it took for those before them
}

func newCacheLog(kind string) *cacheLog {
	return &cacheLog{kind: kind, tree: nodeTree{}, mistaken: map[string]int64{}}
}

// add takes the next event, and notes what does not fit those before it.
func (l *cacheLog) add(e godriver.CacheNode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	if e.Path == "" {
		return
	}
	known, there := l.tree[e.Path]
	if l.echoes(e, known, there) {
		l.echoed++
	} else if what := l.misfit(e, known, there); what != "" {
		l.problem(e, what)
	}
	if l.kind == ours {
		l.checkOrder(e)
	}
	if e.Kind == "changed" && e.Czxid != known.Czxid {
		l.mistaken[e.Path] = e.Czxid
	}
	if e.Kind == "deleted" {
		delete(l.tree, e.Path)
		return
	}
	l.tree[e.Path] = e
}

// misfit says what is wrong with an event of a node that the cache has reported, or not.
func (l *cacheLog) misfit(e, known godriver.CacheNode, there bool) string {
	switch {
	case e.Kind == "created" && there:
		return "which is there as " + printed(known)
	case e.Kind != "created" && !there:
		return "which is not there"
	case e.Kind == "changed" && e.Old == nil:
		return "without the node before"
	case e.Kind == "changed" && !same(*e.Old, known) && !l.unreported(*e.Old, known):
		return "of " + printed(*e.Old) + ", but it was " + printed(known)
	case e.Kind == "deleted" && !same(e, known) && !l.unreported(e, known):
		return "but it was " + printed(known)
	default:
		return ""
	}
}

// echoes reports whether a cache repeats itself: TreeCache lists the children of a node that it has dropped already if
// the node was created again, so two of its objects report the same nodes from then on. The later report is not older.
func (l *cacheLog) echoes(e, known godriver.CacheNode, there bool) bool {
	switch {
	case l.kind != treeCache:
		return false
	case e.Kind == "created":
		return there && e.Mzxid >= known.Mzxid
	case e.Kind == "changed":
		return there && e.Mzxid >= known.Mzxid && !same(*e.Old, known)
	default:
		return !there
	}
}

// unreported reports whether a cache may have a node that it has not reported: CuratorCache compares versions, so it
// stores a node that was deleted and created again while it was cut off, with the same version, without an event.
func (l *cacheLog) unreported(has, reported godriver.CacheNode) bool {
	return l.kind == curatorCache && has.Czxid > reported.Czxid && has.Version == reported.Version
}

// mistook reports whether CuratorCache took a node for the one before it, and so may not have listed its children.
func (l *cacheLog) mistook(name string, node godriver.CacheNode) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mistaken[name] == node.Czxid || l.unreported(node, l.tree[name])
}

// checkOrder checks that parents are created before their children and deleted after them.
func (l *cacheLog) checkOrder(e godriver.CacheNode) {
	if e.Kind == "created" && e.Path != "/" {
		if _, there := l.tree[path.Dir(e.Path)]; !there {
			l.problem(e, "without a parent")
		}
	}
	if e.Kind == "deleted" {
		for name := range l.tree {
			if name != "/" && path.Dir(name) == e.Path {
				l.problem(e, "before its child "+name)
			}
		}
	}
}

func (l *cacheLog) problem(e godriver.CacheNode, what string) {
	text := fmt.Sprintf("event %d: %s %s, %s, %s", len(l.events), e.Kind, e.Path, printed(e), what)
	l.problems = append(l.problems, text)
}

// reported returns the tree that the events describe.
func (l *cacheLog) reported() nodeTree {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.tree)
}

// byPath returns the events of each path in their order; those of the whole cache have an empty path.
func (l *cacheLog) byPath() map[string][]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := map[string][]string{}
	for _, e := range l.events {
		text := e.Kind
		if e.Kind == "created" || e.Kind == "changed" {
			text += " " + e.Data
		}
		events[e.Path] = append(events[e.Path], text)
	}
	return events
}
