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
	t.f.locked(t, func(f *follower) {
		f.watching, f.restart, f.said = true, true, said{}
		clear(f.heard)
	})
}

// Changed notes an event.
func (t *treeSource) Changed(kind zk.EventType, path string) {
	t.f.locked(t, func(f *follower) {
		relative, below := strings.CutPrefix(path, prefix(f.absolute))
		e := event{kind: kind}
		switch {
		case path == f.absolute:
			if kind == zk.EventNodeDataChanged {
				f.said.sets++
			} else {
				f.said.others++
			}
			e.said = f.said
			f.heard[f.root] = e
		case below && (f.depth < 0 || strings.Count(relative, "/") < f.depth):
			f.heard[join(f.root, relative)] = e
		}
	})
}

// Lost comes before any Changed that the watch may have missed.
func (t *treeSource) Lost() { t.f.locked(t, (*follower).loseLocked) }

// Refused has the nodes watched one by one.
func (t *treeSource) Refused(error) {
	t.f.locked(t, (*follower).refuseLocked)
}

// refuseLocked gives up the tree's watch.
func (f *follower) refuseLocked() {
	f.refused = true
	f.loseLocked()
}

func (t *treeSource) stop() {
	t.f.locked(t, (*follower).leaveLocked)
	t.s.UnwatchTree(t.f.absolute, t)
}

// said counts what events have said of the root since the watch was set.
type said struct {
	sets   int32 // its data were set
	others int   // it was created or deleted
}

// A rootRead is what an answer has said of the root, and how many events had come by then.
type rootRead struct {
	czxid   int64
	version int32
	said    said
}

// distrust gives up the tree's watch if events of the root are not true of the root: ClickHouse Keeper 26.3 to 26.8
// sends events of all nodes with the path of the watch. A task's events had come before its request was sent. So if the
// root is still the same node, and was not set as often since it was known for certain, another node has changed.
//
// Until then its events have the whole tree read.
func (f *follower) distrust(t task, r session.NodeRead) {
	if t.path != f.root || f.always {
		return
	}
	if r.Err != nil || f.rootRead != nil && f.rootRead.czxid != r.Stat.Czxid {
		f.rootRead = nil
	}
	heard, before := t.event.said, f.rootRead
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	if before != nil && (heard.others > before.said.others || heard.sets-before.said.sets > r.Stat.Version-before.version) {
		f.wrongPaths = true
		f.cache.client.Logger().Warn("cache: the server reports changes with the path of another node, so each node is watched by itself",
			"root", f.root, "event", t.event.kind.String())
		f.refuseLocked()
	}
	if _, more := f.heard[f.root]; r.Err == nil && !more {
		f.rootRead = &rootRead{czxid: r.Stat.Czxid, version: r.Stat.Version, said: f.said}
	}
}
