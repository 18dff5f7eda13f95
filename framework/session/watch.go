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
	// StatusUnknown lasts until the server has answered, and from a lost connection to the next answer.
	StatusUnknown Status = iota
	// StatusPresent says that the node exists, and that the server will report its next change.
	StatusPresent
	// StatusGone says that the node was deleted, or missing when the watch was set.
	StatusGone
	// StatusRefused says that the server refuses the watch. View.Err is the reason.
	StatusRefused
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
type Watch struct {
	watch   *serverWatch
	wake    func()
	lasting bool // sees a node that is made anew
	gone    bool // has seen it gone, and is not lasting; guarded by session.mu
}

// WatchData watches a node's data and existence. wake is called whenever View may return something new, on the
// goroutine that reads the connection: it must not block, and should only wake a goroutine. WatchData panics if wake is
// nil, and so do its variants.
//
// A node that this client may not read is watched for its existence only. A node that is gone stays gone for its
// watchers, even if it is made anew.
func (s *Session) WatchData(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path}, wake, promptly)
}

// WatchDataDeferred is [Session.WatchData] for a short time: it sets the watch only after some 50 ms, and so costs
// nothing if it ends before.
func (s *Session) WatchDataDeferred(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path}, wake, soon)
}

// WatchDataPersistent is [Session.WatchData] that sees a node again which is made anew. The node must be readable.
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

type manner int

const (
	promptly manner = iota
	lasting         // goes on when the node is gone
	soon
)

const watchDelay = 50 * time.Millisecond

// check panics at the caller: the goroutine that reads the connection would call a function that is nil.
func (k watchKey) check(wake func()) {
	if wake == nil {
		panic(fmt.Sprintf("session: watch on %q: the function is nil", k.path))
	}
}

func (s *Session) subscribe(key watchKey, wake func(), how manner) *Watch {
	key.check(wake)
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
	s.waitsFor(w)
	// A newcomer asks anew about a node that is gone, or was refused.
	fresh := len(w.subscribers) > 1 && w.view.Status != StatusGone && w.view.Status != StatusRefused
	if how == lasting && w.unreadable != nil { // perhaps readable by now
		w.byExists, w.unreadable, fresh = false, nil, false
	}
	deferred := w.requests == 0
	switch {
	case fresh && (!deferred || how == soon):
	case s.removals[key.path] != nil && !key.children && how != lasting:
		w.view = View{} // it is leaving: see onRemoved
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

// postpone has runClock set a watch, with others that are put off. mu is held.
func (s *Session) postpone(w *serverWatch) {
	if len(s.deferred) == 0 {
		s.putOff = s.clock.Now().Add(watchDelay)
		s.wakeClock()
	}
	s.deferred = append(s.deferred, w)
}

// mu is held.
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
	again := w.watch.readsAgain()
	if again {
		view.Again = w.watch.sent
	}
	view.Armed = view.Status == StatusPresent && (again || !w.watch.awaitsAnswer()) &&
		(!s.covered(w.watch.key) || s.trees[w.watch.key.path].set)
	return view
}

// Unwatch ends a watch. wake is not called from then on, but may be running. To end it again does nothing.
//
// The decision to take the watch off the server and the request are one step: a watch that is set on the node a moment
// later is set after that, not removed with it.
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
	// A deletion takes the server's watch with it. If it is refused, onRemoved takes the watch off.
	if leaving := s.removals[w.key.path] != nil; set && !leaving {
		s.unset(w.key)
	}
}

// unset takes a watch off the server, if the server knows how to. "No such watch" is a good answer: it fired on the
// way. mu is held.
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
func (w *Watch) String() string {
	if w.watch == nil {
		return "watch on nothing"
	}
	return fmt.Sprintf("watch on %q", w.watch.key.path)
}

// Format is String by every verb.
func (w *Watch) Format(f fmt.State, verb rune) { FormatText(f, verb, w.String()) }
