package cache

import (
	"context"
	"iter"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// A nodeSource has a watch on each node, and one on its children if those are in the cache. They are set before the
// node is read, on the same connection: a change that the answer does not show is reported. What a node's own watch has
// read is taken in place of another answer while it is current: it is then as new as all answers so far, since an event
// comes before the answers that show its change.
//
// A lost connection ends the watches, and shows in those on nodes. The session sets all again on the next connection,
// by requests that leave before any of them is answered. So the first answer has the whole tree read, by requests that
// come after all watches.
type nodeSource struct {
	reader
	watched map[string]*nodeWatch
}

type nodeWatch struct {
	data, children session.Watch // nil if it is not set
	listed         int64         // the Pzxid of the last listing
}

// watchNodes begins to watch nodes one by one.
func (f *follower) watchNodes(s session.Session) source {
	f.always = true
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	n := &nodeSource{reader: reader{f, s}, watched: map[string]*nodeWatch{}}
	f.observer, f.refused, f.watching, f.restart = n, false, true, true
	clear(f.heard)
	return n
}

// heard is called by the watches on a node.
func (n *nodeSource) heard(path string) {
	n.f.locked(n, func(f *follower) {
		switch connected := n.s.Connected(); {
		case !connected:
			f.watching = false
			f.staleLocked()
		case !f.watching:
			f.watching, f.restart = true, true
			clear(f.heard)
		default:
			f.heard[path] = event{kind: zk.EventNodeDataChanged}
		}
	})
}

func (n *nodeSource) read(ctx context.Context, tasks []task) iter.Seq2[session.NodeRead, error] {
	var asked []task
	known := map[int]session.NodeRead{}
	for i, t := range tasks {
		w := n.watched[t.path]
		if w == nil {
			w = &nodeWatch{}
			n.watched[t.path] = w
		}
		if w.data == nil || w.data.View().Status == session.StatusFailed {
			stopWatch(w.data)
			w.data = n.s.WatchDataPersistent(n.f.absoluteOf(t.path), func() { n.heard(t.path) })
		}
		if view := w.data.View(); view.Current && view.Pending.IsZero() {
			known[i] = session.NodeRead{Data: view.Data, Stat: view.Stat}
		} else {
			asked = append(asked, t)
		}
	}
	return func(yield func(session.NodeRead, error) bool) {
		next, stop := iter.Pull2(n.reader.read(ctx, asked))
		defer stop()
		for i := range tasks {
			r, found := known[i]
			var err error
			if !found {
				r, err, _ = next()
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func (n *nodeSource) list(ctx context.Context, tasks []task) iter.Seq2[session.NodeRead, error] {
	for _, t := range tasks {
		w := n.watched[t.path]
		if w == nil {
			continue // it is gone since it was read
		}
		if w.children != nil {
			if status := w.children.View().Status; status != session.StatusFailed && status != session.StatusGone {
				continue
			}
			stopWatch(w.children)
		}
		w.children = n.s.WatchChildren(n.f.absoluteOf(t.path), func() { n.heard(t.path) })
	}
	return func(yield func(session.NodeRead, error) bool) {
		i := 0
		for r, err := range n.reader.list(ctx, tasks) {
			if w := n.watched[tasks[min(i, len(tasks)-1)].path]; w != nil && r.Stat != nil {
				w.listed = r.Stat.Pzxid
			}
			i++
			if !yield(r, err) {
				return
			}
		}
	}
}

// room bounds how many watches are set at a time: each reads its node.
func (*nodeSource) room() int { return 16 }

// watches reports whether a node has a watch. It may have lost that between its request and the answer: an answer
// before it said that the node, or the one above, is gone.
func (n *nodeSource) watches(path string) bool { return n.watched[path] != nil }

// news reports whether the watches on a node know of something that the contents do not have. It spares the reads that
// their first answers would cause.
func (n *nodeSource) news(path string) bool {
	w := n.watched[path]
	if w == nil || w.data == nil {
		return false
	}
	node, known := n.f.nodes.get(path)
	switch view := w.data.View(); view.Status {
	case session.StatusUnknown:
		return false
	case session.StatusGone:
		return known
	case session.StatusFailed:
		return n.f.unread[unreadable{path: path}] == nil && !(known && n.f.noData) // its Stat may be read
	case session.StatusPresent:
		if !known || view.Stat.Czxid != node.Stat.Czxid || view.Stat.Mzxid != node.Stat.Mzxid {
			return true
		}
	}
	return w.children != nil && !n.showsListing(w, path)
}

// showsListing reports whether a watch on children has what the last listing has, or less.
func (n *nodeSource) showsListing(w *nodeWatch, path string) bool {
	switch view := w.children.View(); view.Status {
	case session.StatusUnknown:
		return true
	case session.StatusFailed:
		return n.f.unread[unreadable{path, true}] != nil
	case session.StatusPresent:
		return view.Stat.Pzxid == w.listed
	case session.StatusGone:
	}
	return false
}

// hears reports whether a watch has heard of the change that the contents have. If it is current, and shows something
// else, it has lost the event. A child that is new, or gone, is heard of by its parent.
func (n *nodeSource) hears(path string) bool {
	return n.f.hearsOf(path) || n.knows(path) || path != n.f.root && n.asksListing(parent(path))
}

func (n *nodeSource) knows(path string) bool {
	w := n.watched[path]
	if w == nil || w.data == nil {
		return false
	}
	view := w.data.View()
	node, known := n.f.nodes.get(path)
	return !view.Current || known && view.Stat.Mzxid == node.Stat.Mzxid && view.Stat.Czxid == node.Stat.Czxid
}

// asksListing reports whether children of a node are still to be listed: the node is new, or its watch has news.
func (n *nodeSource) asksListing(path string) bool {
	w := n.watched[path]
	return w == nil || w.children == nil || !w.children.View().Current || !n.showsListing(w, path)
}

// forget keeps the watch on the root itself, which sees the root when it is created.
func (n *nodeSource) forget(path string) {
	w := n.watched[path]
	if w == nil {
		return
	}
	stopWatch(w.children)
	w.children = nil
	if path != n.f.root {
		stopWatch(w.data)
		delete(n.watched, path)
	}
}

// check has the watches on a node read again.
func (n *nodeSource) check(path string) {
	if w := n.watched[path]; w != nil {
		for _, watch := range []session.Watch{w.data, w.children} {
			if watch != nil {
				watch.ReadAgain()
			}
		}
	}
}

func (n *nodeSource) stop() {
	for _, w := range n.watched {
		stopWatch(w.data)
		stopWatch(w.children)
	}
	n.f.locked(n, func(f *follower) { f.observer, f.watching = nil, false })
}

func stopWatch(w session.Watch) {
	if w != nil {
		w.Stop()
	}
}
