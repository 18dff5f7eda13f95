package cache

import (
	"context"
	"iter"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// A nodeSource has a watch on each node, and one on its children if those are in the cache. The watches read what they
// report, again after each change and each reconnection; a task whose watch has not answered waits for that.
type nodeSource struct {
	reader
	watches map[string]*nodeWatch
}

type nodeWatch struct {
	parts [2]session.Watch // the node, and its children; nil while there is none
	read  [2]bool          // it has answered before
	taken [2]*zk.Stat      // by the answer that was taken last
}

const (
	data = iota
	children
)

// watchNodes begins to watch nodes one by one.
func (f *follower) watchNodes(s session.Session) source {
	f.always = true
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	f.tree, f.refused, f.watching, f.restart = nil, false, true, true
	clear(f.heard)
	return &nodeSource{reader: reader{f, s}, watches: map[string]*nodeWatch{}}
}

func (n *nodeSource) read(_ context.Context, tasks []task) iter.Seq2[session.NodeRead, error] {
	return n.look(tasks, data)
}

func (n *nodeSource) list(_ context.Context, tasks []task) iter.Seq2[session.NodeRead, error] {
	return n.look(tasks, children)
}

// look answers by what the watches know.
func (n *nodeSource) look(tasks []task, part int) iter.Seq2[session.NodeRead, error] {
	return func(yield func(session.NodeRead, error) bool) {
		for _, t := range tasks {
			if !yield(n.lookAt(t.path, part), nil) {
				return
			}
		}
	}
}

func (n *nodeSource) lookAt(path string, part int) session.NodeRead {
	w := n.watches[path]
	if w == nil {
		w = &nodeWatch{}
		n.watches[path] = w
	}
	absolute := n.f.absoluteOf(path)
	if w.parts[part] == nil {
		set := n.s.WatchDataPersistent
		if part == children {
			set = n.s.WatchChildrenPersistent
		}
		w.parts[part] = set(absolute, func() { n.f.hear(path, event{kind: zk.EventNodeDataChanged}, n.s.Connected()) })
	}
	view := w.parts[part].View()
	r := session.NodeRead{Path: absolute, Data: view.Data, Stat: view.Stat, Children: view.Children}
	switch {
	case view.Status == session.StatusUnknown && w.read[part]:
		r.Err = errLost
	case view.Status == session.StatusUnknown, view.Status == session.StatusPresent && !view.Current:
		r.Err = errPending
	case view.Status == session.StatusFailed: // the next look asks again
		r.Err = view.Err
		w.end(part)
		return r
	case part == children && view.Status == session.StatusPresent && !n.agrees(w, view.Stat):
		r.Err = errPending
		n.check(path)
	case view.Status == session.StatusGone && part == children:
		r.Err = errPending // the node's own watch says what has become of it; the next look asks
		w.end(part)
		return r
	case view.Status == session.StatusGone:
		r.Err = zk.ErrNoNode
	}
	w.read[part], w.taken[part] = view.Status != session.StatusUnknown, view.Stat
	return r
}

// agrees reports whether a node's own watch shows the node that a listing is of. If not, one of the two watches has
// lost an event, and says so when both have read again.
func (*nodeSource) agrees(w *nodeWatch, dir *zk.Stat) bool {
	node := w.parts[data].View().Stat
	return node == nil || node.Czxid == dir.Czxid
}

// room bounds how many watches have their first read under way.
func (*nodeSource) room() int { return 32 }

// forget keeps the watch on the root itself, which sees the root when it is made.
func (n *nodeSource) forget(path string) {
	w := n.watches[path]
	if w == nil {
		return
	}
	w.end(children)
	if path != n.f.root {
		w.end(data)
		delete(n.watches, path)
	}
}

// hears knows of events whose watches have not called yet: first they read the node. A child that is new, or gone, is
// heard of by its parent.
func (n *nodeSource) hears(path string) bool {
	dir := parent(path)
	return n.f.hearsOf(path) || n.f.hearsOf(dir) || n.asks(path, data) || n.asks(dir, children)
}

// asks reports whether a watch is reading, or has read what was not taken. That of a missing node may always be.
func (n *nodeSource) asks(path string, part int) bool {
	w := n.watches[path]
	if w == nil || w.parts[part] == nil {
		return false
	}
	view := w.parts[part].View()
	return !view.Current || view.Stat != w.taken[part]
}

// check reads a node by its watches. The next round sets one that is missing.
func (n *nodeSource) check(path string) {
	w := n.watches[path]
	if w == nil {
		return
	}
	for _, watch := range w.parts {
		if watch != nil {
			watch.ReadAgain()
		} else {
			n.f.hear(path, event{kind: zk.EventNodeDataChanged}, true)
		}
	}
}

func (n *nodeSource) stop() {
	for _, w := range n.watches {
		w.end(data)
		w.end(children)
	}
	n.watches = nil
	n.f.lose()
}

// end ends the watch on one part. A later look sets another one, which has not answered yet.
func (w *nodeWatch) end(part int) {
	if w.parts[part] != nil {
		w.parts[part].Stop()
	}
	w.parts[part], w.read[part] = nil, false
}
