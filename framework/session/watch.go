package session

import (
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/watches"
)

// A Status is what is known of a watched node.
type Status int

const (
	// StatusUnknown lasts until the server has answered, and from a lost connection to the next answer.
	StatusUnknown = Status(watches.Unknown)
	// StatusPresent says that the node exists, and that the server will report its next change.
	StatusPresent = Status(watches.Present)
	// StatusGone says that the node was deleted, or missing when the watch was set.
	StatusGone = Status(watches.Gone)
	// StatusRefused says that the server refuses the watch. View.Err is the reason.
	StatusRefused = Status(watches.Refused)
)

// A View is what is known of a watched node. Its slices must not be changed.
type View struct {
	Status Status
	// Armed says that the server will report the node's next change, and has reported none since the last read: by all
	// that has arrived on the connection, the node exists.
	Armed    bool
	Stat     *zk.Stat
	Data     []byte   // of WatchData; nil if the node may not be read
	Children []string // of WatchChildren
	Err      error
	Read     time.Time // when the request for this answer was sent
	Again    time.Time // when ReadAgain's pending request was sent; zero without one
}

// A Watch is on a node until its session ends: it is set again after every change and reconnection. All watches on a
// node share one at the server, which is removed with the last.
type Watch struct{ subscription watches.Subscription }

// WatchData watches a node's data and existence. wake is called whenever View may return something new, on the
// goroutine that reads the connection: it must not block, and should only wake a goroutine. WatchData panics if wake is
// nil, and so do its variants.
//
// A node that this client may not read is watched for its existence only. A node that is gone stays gone for its
// watchers, even if it is created again.
func (s *Session) WatchData(path string, wake func()) *Watch {
	return s.subscribe(watches.Key{Path: path}, wake, watches.Promptly)
}

// WatchDataDeferred is [Session.WatchData] for a short time: it sets the watch only after some 50 ms, and so costs
// nothing if it ends before.
func (s *Session) WatchDataDeferred(path string, wake func()) *Watch {
	return s.subscribe(watches.Key{Path: path}, wake, watches.Deferred)
}

// WatchDataPersistent is [Session.WatchData] that sees a node again which is created again. The node must be readable.
func (s *Session) WatchDataPersistent(path string, wake func()) *Watch {
	return s.subscribe(watches.Key{Path: path}, wake, watches.Persistent)
}

// WatchChildren watches the names of a node's children, like [Session.WatchData].
func (s *Session) WatchChildren(path string, wake func()) *Watch {
	return s.subscribe(watches.Key{Path: path, Children: true}, wake, watches.Promptly)
}

// WatchChildrenDeferred is [Session.WatchChildren], deferred as [Session.WatchDataDeferred] is.
func (s *Session) WatchChildrenDeferred(path string, wake func()) *Watch {
	return s.subscribe(watches.Key{Path: path, Children: true}, wake, watches.Deferred)
}

const watchDelay = 50 * time.Millisecond

func (s *Session) subscribe(key watches.Key, wake func(), how watches.Manner) *Watch {
	if wake == nil { // the goroutine that reads the connection would call it
		panic(fmt.Sprintf("session: watch on %q: the function is nil", key.Path))
	}
	w := &Watch{}
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.watches.HasDeferred()
	s.watches.Subscribe(&w.subscription, key, wake, how, s.removals[key.Path] != nil, time.Now())
	if s.watches.HasDeferred() && !waiting {
		s.putOff = s.clock.Now().Add(watchDelay)
		s.wakeClock()
	}
	if s.askWatched() && s.needsWake(s.clock.Now()) {
		s.wakeClock()
	}
	return w
}

// View returns what is known now.
func (s *Session) View(w *Watch) View {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.watches.View(&w.subscription)
	return View{
		Status: Status(v.Status), Armed: v.Armed, Stat: v.Stat, Data: v.Data, Children: v.Children, Err: v.Err,
		Read: v.Read, Again: v.Again,
	}
}

// ReadAgain reads a watched node and sets the server's watch again, in case that has lost an event. It does not block:
// View returns what was read before, still Armed, until the answer, which calls wake. It does nothing while a request
// is under way, before a deferred watch is set, and without a connection.
func (s *Session) ReadAgain(w *Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.ReadAgain(&w.subscription, time.Now())
	s.askWatched()
}

// Unwatch ends a watch. wake is not called from then on, but may be running. To end it again does nothing.
//
// The decision to take the watch off the server and the request are one step: a watch that is set on the node a moment
// later is set after that, not removed with it.
func (s *Session) Unwatch(w *Watch) {
	key, _ := w.subscription.Key()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.Unsubscribe(&w.subscription, s.removals[key.Path] != nil)
	s.askWatched()
}

// String names the node.
func (w *Watch) String() string {
	key, ok := w.subscription.Key()
	if !ok {
		return "watch on nothing"
	}
	return fmt.Sprintf("watch on %q", key.Path)
}

// Format is String by every verb.
func (w *Watch) Format(f fmt.State, verb rune) { FormatText(f, verb, w.String()) }
