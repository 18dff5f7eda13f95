package live

import (
	"time"

	"github.com/gocurator/curator/framework/internal/watches"
)

// WatchData watches a node's data and existence. wake is called whenever View may return something new, on the
// goroutine that reads the connection: it must not block, and should only wake a goroutine. WatchData panics if wake is
// nil, and so do its variants.
//
// A node that this client may not read is watched for its existence only. A node that is gone stays gone for its
// watchers, even if it is created again.
func (s *Session) WatchData(path string, wake func()) *Watch {
	return s.watching.subscribe(watches.Key{Path: path}, wake, watches.Promptly)
}

// WatchDataDeferred is [Session.WatchData] for a short time: it sets the watch only after some 50 ms, and so costs
// nothing if it ends before.
func (s *Session) WatchDataDeferred(path string, wake func()) *Watch {
	return s.watching.subscribe(watches.Key{Path: path}, wake, watches.Deferred)
}

// WatchDataPersistent is [Session.WatchData] that sees a node again which is created again. The node must be readable.
func (s *Session) WatchDataPersistent(path string, wake func()) *Watch {
	return s.watching.subscribe(watches.Key{Path: path}, wake, watches.Persistent)
}

// WatchChildren watches the names of a node's children, like [Session.WatchData].
func (s *Session) WatchChildren(path string, wake func()) *Watch {
	return s.watching.subscribe(watches.Key{Path: path, Children: true}, wake, watches.Promptly)
}

// WatchChildrenPersistent is [Session.WatchChildren] that sees a node again that is created again. View must be called
// after each wake: it sets the watch that is needed next. A node that may not be read is StatusRefused.
func (s *Session) WatchChildrenPersistent(path string, wake func()) *Watch {
	w := s.WatchChildren(path, wake)
	w.wake = wake
	return w
}

// WatchChildrenDeferred is [Session.WatchChildren], deferred as [Session.WatchDataDeferred] is.
func (s *Session) WatchChildrenDeferred(path string, wake func()) *Watch {
	return s.watching.subscribe(watches.Key{Path: path, Children: true}, wake, watches.Deferred)
}

// View returns what is known now.
func (s *Session) View(w *Watch) View {
	s.base.mu.Lock()
	v := s.watching.viewLocked(w)
	s.base.mu.Unlock()
	return View{
		Status: Status(v.Status), Armed: v.Armed, Own: v.Stat != nil && v.Stat.EphemeralOwner == s.ID(),
		Stat: v.Stat, Data: v.Data, Children: v.Children, Err: v.Err, Read: v.Read, Again: v.Again,
	}
}

// ReadAgain reads a watched node and sets the server's watch again, in case that has lost an event. It does not block:
// View returns what was read before, still Armed, until the answer, which calls wake. It does nothing while a request
// is under way, before a deferred watch is set, and without a connection.
func (s *Session) ReadAgain(w *Watch) {
	s.watching.change(func(now time.Time) { s.watching.table.ReadAgain(&w.subscription, now) })
}

// Unwatch ends a watch. wake is not called from then on, but may be running. To end it again does nothing.
//
// The decision to take the watch off the server and the request are one step: a watch that is set on the node a moment
// later is set after that, not removed with it.
func (s *Session) Unwatch(w *Watch) {
	s.watching.change(func(time.Time) {
		s.watching.unsubscribeLocked(w)
		w.wake = nil // a later View sets nothing
	})
}

// WatchTree reports the changes of a node, which need not exist, and of everything below it to an observer, until
// UnwatchTree or the end of the session. It does not block. All observers of a path share one watch at the server.
//
// Errors: [ErrUnsupported] if the servers are known to lack such watches, which came with 3.6; otherwise the observer's
// Refused comes later. A client's first request to a server that lacks them costs the connection: the server closes it.
func (s *Session) WatchTree(path string, o TreeObserver) error {
	return s.watching.observeTree(path, o)
}

// UnwatchTree ends WatchTree. The observer gets no call from then on, but may be in one.
func (s *Session) UnwatchTree(path string, o TreeObserver) {
	s.watching.change(func(now time.Time) { s.watching.table.UnobserveTree(path, o, now) })
}

// ObserveChildren gives a directory an observer, until UnobserveChildren. It asks for nothing by itself.
func (s *Session) ObserveChildren(dir string, o ChildObserver) { s.observers.add(dir, o) }

// UnobserveChildren ends ObserveChildren.
func (s *Session) UnobserveChildren(dir string, o ChildObserver) { s.observers.remove(dir, o) }
