//go:build linux

package interop_test

import (
	"fmt"
	"maps"
	"path"
	"sync"

	"github.com/gocurator/curator/integration/interop/godriver"
)

// A cacheLog is what one cache has reported, and the tree that this describes.
type cacheLog struct {
	kind string

	mu       sync.Mutex
	events   []godriver.CacheNode // with paths below the root; those of the whole cache have none
	tree     nodeTree
	signal   string   // the last event of the whole cache
	synced   nodeTree // as it was at the last "synced"
	problems []string
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
		l.signal = e.Kind
		if e.Kind == "synced" {
			l.synced = maps.Clone(l.tree)
		}
		return
	}
	known, there := l.tree[e.Path]
	if what := l.misfit(e, known, there); what != "" {
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

// unsynced is empty if no signal has followed "synced".
func (l *cacheLog) unsynced() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.signal == "synced" {
		return ""
	}
	return fmt.Sprintf("the last signal: got %q, want \"synced\"\n", l.signal)
}

// atSynced returns the tree that the events before the last "synced" describe.
func (l *cacheLog) atSynced() nodeTree {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.synced
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
