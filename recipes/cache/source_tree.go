package cache

import (
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// A treeSource hears of all changes by one watch, and reads what has changed. It is the session's TreeObserver: the
// goroutine that reads the connection calls its methods. A call that comes when the follower has another source counts
// for nothing.
type treeSource struct{ reader }

// Watching has the whole tree read: nothing reports what happened before.
func (t *treeSource) Watching() {
	t.locked(func(f *follower) {
		f.watching, f.restart = true, true
		clear(f.heard)
	})
}

// Changed notes an event.
func (t *treeSource) Changed(kind zk.EventType, path string) {
	t.locked(func(f *follower) {
		relative, below := strings.CutPrefix(path, prefix(f.absolute))
		e := event{kind: kind}
		switch {
		case path == f.absolute:
			e.known, _ = f.cache.now.Load().nodes.get(f.root)
			f.heard[f.root] = e
		case below && (f.depth < 0 || strings.Count(relative, "/") < f.depth):
			f.heard[join(f.root, relative)] = e
		}
	})
}

// Lost comes before any Changed that the watch may have missed.
func (t *treeSource) Lost() {
	t.locked(func(f *follower) {
		f.watching = false
		f.staleLocked()
	})
}

// Refused has the nodes watched one by one.
func (t *treeSource) Refused(error) {
	t.locked((*follower).refuseLocked)
}

// refuseLocked gives up the tree's watch.
func (f *follower) refuseLocked() {
	f.watching, f.refused = false, true
	f.staleLocked()
}

func (t *treeSource) locked(do func(f *follower)) {
	f := t.f
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	if f.tree == t {
		do(f)
		f.waiter.Signal()
	}
}

func (t *treeSource) stop() {
	t.locked(func(f *follower) { f.tree, f.watching = nil, false })
	t.s.UnwatchTree(t.f.absolute, t)
}

// distrust gives up the tree's watch if an event of the root is not true of the root: ClickHouse Keeper 26.3 to 26.8
// sends events of all nodes with the path of the watch. The event was there before the answer was sent, so if the root
// is still what it was when the event came, another node has changed.
func (f *follower) distrust(t task, r session.NodeRead) {
	known := t.event.known
	switch {
	case known == nil || r.Err != nil || r.Stat.Czxid != known.Stat.Czxid:
		return
	case t.event.kind == zk.EventNodeDataChanged && r.Stat.Mzxid != known.Stat.Mzxid:
		return
	}
	f.wrongPaths = true
	f.cache.client.Logger().Warn("cache: the server reports changes with the path of another node, so each node is watched by itself",
		"root", f.root, "event", t.event.kind.String())
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	f.refuseLocked()
}
