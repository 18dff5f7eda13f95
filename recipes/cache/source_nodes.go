package cache

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// A nodeSource has a watch on each node, and one on its children if those are in the cache. The answers that set them
// are those of the round: a change that they do not show is reported, and an event comes before the answers that show
// its change. So what a watch has read is as new as all answers so far while it is current.
//
// A lost connection ends all watches but the one on the root, which the session sets again on the next connection. Its
// answer has the whole tree read: the other watches are set again a few at a time, as at the beginning.
type nodeSource struct {
	reader
	watched map[string]*nodeWatch
	size    int
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
	n := &nodeSource{reader: reader{f, s}, watched: map[string]*nodeWatch{}, size: 1}
	f.observer, f.refused, f.watching, f.restart = n, false, true, true
	clear(f.heard)
	return n
}

// heard is called by the watches on a node.
func (n *nodeSource) heard(path string) {
	n.f.locked(n, func(f *follower) {
		switch connected := n.s.Connected(); {
		case !connected:
			f.loseLocked()
		case !f.watching:
			f.watching, f.restart = true, true
			clear(f.heard)
		default:
			f.heard[path] = event{kind: zk.EventNodeDataChanged}
		}
	})
}

func (n *nodeSource) read(ctx context.Context, tasks []task) iter.Seq2[session.NodeRead, error] {
	for _, t := range tasks {
		w := n.watched[t.path]
		if w == nil {
			w = &nodeWatch{}
			n.watched[t.path] = w
		}
		if w.data != nil && w.data.View().Status != session.StatusFailed {
			continue
		}
		stopWatch(w.data)
		path, heard := n.f.absoluteOf(t.path), func() { n.heard(t.path) }
		if t.path == n.f.root {
			w.data = n.s.WatchDataPersistent(path, heard)
		} else {
			w.data = n.s.WatchWhileConnected(path, session.ReadData, heard)
		}
	}
	return n.answers(ctx, tasks, func(w *nodeWatch) session.Watch { return w.data })
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
		w.children = n.s.WatchWhileConnected(n.f.absoluteOf(t.path), session.ReadChildren, func() { n.heard(t.path) })
	}
	return n.answers(ctx, tasks, func(w *nodeWatch) session.Watch { return w.children })
}

// answers yields what one of the watches of each task says, and adapts the room to the time that this takes.
func (n *nodeSource) answers(ctx context.Context, tasks []task, of func(w *nodeWatch) session.Watch) iter.Seq2[session.NodeRead, error] {
	return func(yield func(session.NodeRead, error) bool) {
		began := time.Now()
		for _, t := range tasks {
			r, err := n.answer(ctx, t, of)
			if !yield(r, err) || err != nil {
				return
			}
		}
		if n.size = min(2*n.size, mostRoom); time.Since(began) >= n.s.Timeout()/16 {
			n.size = max(n.size/4, 1)
		}
	}
}

// answer blocks until a watch knows its node. A node that the cache no longer has counts as missing.
func (n *nodeSource) answer(ctx context.Context, t task, of func(w *nodeWatch) session.Watch) (session.NodeRead, error) {
	for {
		w := n.watched[t.path]
		if w == nil || of(w) == nil {
			return session.NodeRead{Err: zk.ErrNoNode}, nil
		}
		switch view := of(w).View(); {
		case view.Status == session.StatusGone:
			return session.NodeRead{Err: zk.ErrNoNode}, nil
		case view.Status == session.StatusFailed && errors.Is(view.Err, session.ErrConnectionLost):
			return session.NodeRead{}, view.Err
		case view.Status == session.StatusFailed:
			return session.NodeRead{Err: view.Err}, nil
		case view.Current && view.Pending.IsZero():
			if of(w) == w.children {
				w.listed = view.Stat.Pzxid
			}
			return session.NodeRead{Data: view.Data, Stat: view.Stat, Children: view.Children}, nil
		}
		if err := n.f.waiter.Wait(ctx, n.s, nil); err != nil {
			return session.NodeRead{}, err
		}
	}
}

// room bounds how many watches are set at a time: each reads its node. Like the window of ReadMany it is small where
// answers take long.
func (n *nodeSource) room() int { return n.size }

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
		return n.f.unread[unreadable{path: path}] == nil
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

// shows reports whether the watch on a node's children has what a later listing says, unless it has lost an event.
func (n *nodeSource) shows(path string, r session.NodeRead) bool {
	w := n.watched[path]
	if w == nil || w.children == nil || r.Err != nil {
		return true
	}
	view := w.children.View()
	return view.Stat == nil || view.Stat.Pzxid == r.Stat.Pzxid
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
	n.f.locked(n, (*follower).leaveLocked)
}

func stopWatch(w session.Watch) {
	if w != nil {
		w.Stop()
	}
}
