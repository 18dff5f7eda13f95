package session

import (
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A Status is what is known of a watched node.
type Status int

const (
	// StatusUnknown is said until the server has answered, and from a lost connection to the answer after it.
	StatusUnknown Status = iota
	// StatusPresent says that the node is there, and that the server will tell of its next change.
	StatusPresent
	// StatusGone says that the node was deleted, or was not there when the watch was set.
	StatusGone
	// StatusRefused says that the server does not let the client watch the node. View.Err is the reason.
	StatusRefused
)

// A View is what is known of a watched node at a moment. Its slices must not be changed.
type View struct {
	Status Status
	// Armed says that the server will tell of the node's next change, and has told of none since it was last read: as
	// far as everything goes that has arrived on the connection, the node is there.
	Armed    bool
	Stat     *zk.Stat
	Data     []byte   // of WatchData; nil if the node may not be read
	Children []string // of WatchChildren
	Err      error
}

// A Watch keeps an eye on a node for as long as its session lasts: it is set again after every change and every
// reconnection. All watches on the same node share one watch at the server, which is removed with the last of them.
type Watch struct {
	watch   *serverWatch
	wake    func()
	lasting bool // sees a node that is made anew
	gone    bool // has seen it gone, and does not; guarded by session.mu
}

// WatchData watches a node's data and whether it is there. wake is called whenever View may return something new, on
// the goroutine that reads the connection: it must not block, and should do no more than wake a goroutine.
//
// A node that this client may not read is watched for its existence only. A node that is gone stays gone for its
// watchers, even if another is made in its place.
func (s *Session) WatchData(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path}, wake, promptly)
}

// WatchDataDeferred is [Session.WatchData] for a node that is most likely to be left alone, and soon to be forgotten:
// it sets the watch only when it has been wanted for a moment, some 50 ms, and so costs nothing if it ends before.
func (s *Session) WatchDataDeferred(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path}, wake, soon)
}

// WatchDataPersistent is [Session.WatchData] for a node that may be made anew: it is seen again then. It must be
// readable.
func (s *Session) WatchDataPersistent(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path}, wake, lasting)
}

// WatchChildren watches the names of a node's children, like [Session.WatchData].
func (s *Session) WatchChildren(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path, children: true}, wake, promptly)
}

// WatchChildrenDeferred is [Session.WatchChildren], deferred as [Session.WatchDataDeferred] is.
func (s *Session) WatchChildrenDeferred(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path, children: true}, wake, soon)
}

// A manner is how a watch is set.
type manner int

const (
	promptly manner = iota
	lasting         // and goes on when the node is gone
	soon
)

// watchDelay is how long a watch that need not be set at once is put off.
const watchDelay = 50 * time.Millisecond

func (s *Session) subscribe(key watchKey, wake func(), how manner) *Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := &Watch{wake: wake, lasting: how == lasting}
	w := s.watches[key]
	if w == nil {
		w = &serverWatch{key: key, subscribers: map[*Watch]struct{}{}}
		s.watches[key] = w
	}
	sub.watch = w
	w.subscribers[sub] = struct{}{}
	// What others have seen of a node that is gone, or was refused, is not what a newcomer asks for.
	fresh := len(w.subscribers) > 1 && w.view.Status != StatusGone && w.view.Status != StatusRefused
	if how == lasting && w.unreadable != nil { // it may be read now
		w.byExists, w.unreadable, fresh = false, nil, false
	}
	deferred := w.requests == 0
	switch {
	case fresh && (!deferred || how == soon):
	case s.removals[key.path] != nil && !key.children && how != lasting:
		w.view = View{} // it is leaving: the answer to that tells, see onRemoved
	case deferred && how == soon:
		s.postpone(w)
	default:
		w.view = View{}
		s.send(s.arm(w))
		if s.needsWake(s.clock.Now()) {
			s.wakeClock()
		}
	}
	return sub
}

// postpone has runClock set a watch, once for all that are put off meanwhile. mu is held.
func (s *Session) postpone(w *serverWatch) {
	if len(s.deferred) == 0 {
		s.putOff = s.clock.Now().Add(watchDelay)
		s.wakeClock()
	}
	s.deferred = append(s.deferred, w)
}

// armDeferred sets the watches that were put off, if it is time and they are still wanted. mu is held.
func (s *Session) armDeferred(now time.Time) {
	if len(s.deferred) == 0 || now.Before(s.putOff) {
		return
	}
	for _, w := range s.deferred {
		if s.watches[w.key] == w && w.requests == 0 {
			s.send(s.arm(w))
		}
	}
	s.deferred = nil
}

// View returns what is known now.
func (s *Session) View(w *Watch) View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.gone {
		return View{Status: StatusGone}
	}
	view := w.watch.view
	if w.lasting && w.watch.unreadable != nil && view.Status == StatusPresent {
		return View{Status: StatusRefused, Err: w.watch.unreadable}
	}
	view.Armed = view.Status == StatusPresent && !w.watch.awaitsAnswer() && (!s.covered(w.watch.key) || s.trees[w.watch.key.path].set)
	return view
}

// Unwatch ends a watch. wake is not called from then on, but it may be running. Ending it again does nothing.
//
// Whether the server must hear of it is decided, and the request queued, in one step: a watch that is set on the
// same node a moment later is then set after the old one was removed, not removed with it.
func (s *Session) Unwatch(sub *Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := sub.watch
	delete(w.subscribers, sub)
	if len(w.subscribers) > 0 || s.watches[w.key] != w {
		return
	}
	delete(s.watches, w.key)
	if w.requests == 0 {
		return // it was put off, and is not needed any more
	}
	// An exists-watch is set on a missing node, too.
	set := w.view.Status == StatusPresent || w.view.Status == StatusUnknown || w.byExists || w.awaitsAnswer()
	// The deletion of a node takes the server's watch with it. If the server refuses it, onRemoved takes the watch off.
	if leaving := s.removals[w.key.path] != nil; set && !leaving {
		s.unset(w.key)
	}
}

// unset takes a watch off the server, if it is there and the server knows how to. "There is no such watch" is as good
// an answer as any: it fired on the way. mu is held.
func (s *Session) unset(key watchKey) { s.send(s.unsetting(key)...) }

func (s *Session) unsetting(key watchKey) []*transport.Call {
	if s.support.Lacks(transport.FeatureRemoveWatches) || s.covered(key) {
		return nil
	}
	table := transport.DataWatch
	if key.children {
		table = transport.ChildWatch
	}
	return one(transport.RemoveWatches(key.path, table, func(err error) {
		s.takenOff(err, func() []*transport.Call {
			if s.covered(key) {
				s.trees[key.path].leftData = true
				return nil
			}
			if w := s.watches[key]; w != nil && w.requests > 0 {
				return nil
			}
			return s.unsetting(key)
		})
	}))
}

// String names the node.
func (w *Watch) String() string { return fmt.Sprintf("watch on %q", w.watch.key.path) }

// GoString is String.
func (w *Watch) GoString() string { return w.String() }
