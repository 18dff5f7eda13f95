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
// are the answers of the round. A server reports a change before it sends an answer that shows it. So what a watch has
// read is as new as all answers so far while it is current.
//
// A lost connection ends all watches except on the root and on Stats, which the session sets again. Then the whole tree
// is read, which sets the others a few at a time.
type nodeSource struct {
	reader
	watched map[string]*nodeWatch
	size    int
}

type nodeWatch struct {
	data, children session.Watch // nil if it is not set
	stat           session.Watch // beside data that cannot be read and are not wanted; else nil
	listed         int64         // the Pzxid of the last listing
}

// view returns what is known of the node itself.
func (w *nodeWatch) view() session.View {
	view := w.data.View()
	if view.Status == session.StatusFailed && w.stat != nil {
		if stat := w.stat.View(); stat.Status != session.StatusGone { // otherwise it has seen another node
			return stat
		}
	}
	return view
}

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
		if w.data != nil && w.view().Status != session.StatusFailed {
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
	return n.answers(ctx, tasks, false)
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
	return n.answers(ctx, tasks, true)
}

// answers yields what one of the watches of each task says, and adapts the room to the time that this takes.
func (n *nodeSource) answers(ctx context.Context, tasks []task, children bool) iter.Seq2[session.NodeRead, error] {
	return func(yield func(session.NodeRead, error) bool) {
		began := time.Now()
		for _, t := range tasks {
			r, err := n.answer(ctx, t, children)
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
func (n *nodeSource) answer(ctx context.Context, t task, children bool) (session.NodeRead, error) {
	for {
		w := n.watched[t.path]
		if w == nil || children && w.children == nil {
			return session.NodeRead{Err: zk.ErrNoNode}, nil
		}
		view := w.view()
		if children {
			view = w.children.View()
		}
		switch failed := view.Status == session.StatusFailed; {
		case view.Status == session.StatusGone:
			return session.NodeRead{Err: zk.ErrNoNode}, nil
		case failed && errors.Is(view.Err, session.ErrConnectionLost):
			return session.NodeRead{}, view.Err
		case failed && n.f.noData && !children && (w.stat == nil || w.stat.View().Status == session.StatusGone):
			stopWatch(w.stat)
			w.stat = n.s.WatchData(n.f.absoluteOf(t.path), func() { n.heard(t.path) })
			continue
		case failed:
			return session.NodeRead{Err: view.Err}, nil
		case view.Current && view.Pending.IsZero():
			if children {
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
	switch view := w.view(); view.Status {
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

// forget keeps the watch on the root itself, which sees the root when it is created.
func (n *nodeSource) forget(path string) {
	w := n.watched[path]
	if w == nil {
		return
	}
	stopWatch(w.children)
	stopWatch(w.stat)
	w.children, w.stat = nil, nil
	if path != n.f.root {
		stopWatch(w.data)
		delete(n.watched, path)
	}
}

func (n *nodeSource) stop() {
	for _, w := range n.watched {
		stopWatch(w.data)
		stopWatch(w.children)
		stopWatch(w.stat)
	}
	n.f.locked(n, (*follower).leaveLocked)
}

func stopWatch(w session.Watch) {
	if w != nil {
		w.Stop()
	}
}
