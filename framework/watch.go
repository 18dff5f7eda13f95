package framework

import (
	"errors"
	"maps"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/clock"
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
	// Armed says that the server will tell of the node's next change, and has told of none since it was last read: as far as
	// everything goes that has arrived on the connection, the node is there.
	Armed    bool
	Stat     *zk.Stat
	Data     []byte   // of WatchData; nil if the node may not be read
	Children []string // of WatchChildren
	Err      error
}

// A Watch keeps an eye on a node for as long as its session lasts: it is set again after every change and every
// reconnection. All watches on the same node share one watch at the server, which is removed with the last of them.
type Watch struct {
	watch   *watch
	wake    func()
	lasting bool // sees a node that is made anew
	gone    bool // has seen it gone, and does not; guarded by session.mu
}

type watchKey struct {
	path     string
	children bool
}

// A watch is the one watch of a session on a node, with its subscribers. Guarded by session.mu.
type watch struct {
	key         watchKey
	view        View
	asked       int  // numbers the requests that set it: only the answer to the newest counts
	answered    int  // the number of the newest that was answered
	byExists    bool // by an exists-watch: the node may not be read, or is not there
	subscribers map[*Watch]struct{}
}

// WatchData watches a node's data and whether it is there. wake is called whenever View may return something new, on the
// goroutine that reads the connection: it must not block, and should do no more than wake whoever looks.
//
// A node that this client may not read is watched for its existence only. A node that is gone stays gone for its watchers,
// even if another is made in its place.
func (s *Session) WatchData(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path}, wake, promptly)
}

// WatchDataSoon is [Session.WatchData] for a node that is most likely to be left alone, and soon to be forgotten: it sets the
// watch only when it has been wanted for a moment, some 50 ms, and so costs nothing if it ends before.
func (s *Session) WatchDataSoon(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path}, wake, soon)
}

// WatchLasting is [Session.WatchData] for a node that may be made anew: it is seen again then. It must be readable.
func (s *Session) WatchLasting(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path}, wake, lasting)
}

// WatchChildren watches the names of a node's children, like [Session.WatchData].
func (s *Session) WatchChildren(path string, wake func()) *Watch {
	return s.subscribe(watchKey{path: path, children: true}, wake, promptly)
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
		w = &watch{key: key, subscribers: map[*Watch]struct{}{}}
		s.watches[key] = w
	}
	sub.watch = w
	w.subscribers[sub] = struct{}{}
	// What others have seen of a node that is gone, or was refused, is not what a newcomer asks for.
	fresh := len(w.subscribers) > 1 && w.view.Status != StatusGone && w.view.Status != StatusRefused
	deferred := w.asked == 0
	switch {
	case fresh && (!deferred || how == soon):
	case s.removals[key.path] != nil && !key.children && how != lasting:
		w.view = View{} // it is leaving: the answer to that tells, see left
	case deferred && how == soon:
		s.postpone(w)
	default:
		w.view = View{}
		s.send(s.arm(w))
		if s.overtaken(clock.Now()) {
			s.look()
		}
	}
	return sub
}

// postpone has a watch set by the guard, which looks once for all that are put off meanwhile. mu is held.
func (s *Session) postpone(w *watch) {
	if len(s.deferred) == 0 {
		s.putOff = clock.Now().Add(watchDelay)
		s.look()
	}
	s.deferred = append(s.deferred, w)
}

// armDeferred sets the watches that were put off, if it is time and they are still wanted. mu is held.
func (s *Session) armDeferred(now time.Time) {
	if len(s.deferred) == 0 || now.Before(s.putOff) {
		return
	}
	for _, w := range s.deferred {
		if s.watches[w.key] == w && w.asked == 0 {
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
	view.Armed = view.Status == StatusPresent && !w.watch.asking()
	return view
}

// see replaces what is known. Whoever has seen a node gone keeps to that, unless it watches for the next one, too.
func (w *watch) see(view View) {
	w.view = view
	for sub := range w.subscribers {
		sub.gone = sub.gone || view.Status == StatusGone && !sub.lasting
	}
}

func (w *watch) lasting() bool {
	for sub := range w.subscribers {
		if sub.lasting {
			return true
		}
	}
	return false
}

// asking reports whether an answer is on its way.
func (w *watch) asking() bool { return w.answered != w.asked }

// Unwatch ends a watch. wake is not called from then on, but it may be running. Ending it again does nothing.
//
// Whether the server must be told is decided, and the request queued, in one step: a watch that somebody sets on the same node
// a moment later is then set after the old one was removed, not removed with it.
func (s *Session) Unwatch(sub *Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := sub.watch
	delete(w.subscribers, sub)
	if len(w.subscribers) > 0 || s.watches[w.key] != w {
		return
	}
	delete(s.watches, w.key)
	if w.asked == 0 {
		return // it was put off, and is not needed any more
	}
	// An exists-watch is set on a missing node, too.
	set := w.view.Status == StatusPresent || w.view.Status == StatusUnknown || w.byExists || w.asking()
	if leaving := s.removals[w.key.path] != nil; set && !leaving {
		table := transport.DataWatch
		if w.key.children {
			table = transport.ChildWatch
		}
		// "There is no such watch" is as good an answer as any: it fired on the way.
		s.send(transport.RemoveWatches(w.key.path, table, func(error) {}))
	}
}

// arm makes the request that reads the node and sets the watch. mu is held.
func (s *Session) arm(w *watch) *transport.Call {
	w.asked++
	n := w.asked
	switch {
	case w.key.children:
		return transport.Children(w.key.path, true, func(children []string, stat *zk.Stat, err error) {
			s.armed(w, n, View{Stat: stat, Children: children, Err: err})
		})
	case w.byExists:
		return transport.Exists(w.key.path, true, func(stat *zk.Stat, err error) {
			s.armed(w, n, View{Stat: stat, Err: err})
		})
	default:
		return transport.Get(w.key.path, true, func(data []byte, stat *zk.Stat, err error) {
			s.armed(w, n, View{Stat: stat, Data: data, Err: err})
		})
	}
}

// armed applies the answer to request n.
func (s *Session) armed(w *watch, n int, view View) {
	switch {
	case errors.Is(view.Err, zk.ErrNoNode):
		s.gone(w.key.path)
	case view.Err == nil && w.key.children:
		s.listed(w.key.path, view.Children, view.Stat)
	}
	s.mu.Lock()
	if s.watches[w.key] != w || n != w.asked || errors.Is(view.Err, transport.ErrBroken) {
		s.mu.Unlock()
		return
	}
	w.answered = n
	switch {
	case w.otherwise(view.Err):
		s.send(s.arm(w))
		s.mu.Unlock()
		return
	case view.Err == nil:
		view.Status = StatusPresent
	case errors.Is(view.Err, zk.ErrNoNode):
		view = View{Status: StatusGone}
	case !definite(view.Err): // the server is overloaded, for instance: it is asked again on the next connection
		s.mu.Unlock()
		s.transport.Break(view.Err)
		return
	default:
		view.Status = StatusRefused
	}
	w.see(view)
	wakes := w.wakes()
	s.mu.Unlock()
	wakes.call()
}

// left applies the answer to the removal of a node: whoever began to watch it meanwhile has not asked the server. mu is held.
func (s *Session) left(path string, err error) wakes {
	w := s.watches[watchKey{path: path}]
	switch {
	case w == nil && err != nil: // Unwatch has left the server's watch to the removal
		s.send(transport.RemoveWatches(path, transport.DataWatch, func(error) {}))
		return nil
	case w == nil || w.view.Status != StatusUnknown || w.asking():
		return nil
	case err != nil || w.lasting():
		s.send(s.arm(w))
		return nil
	}
	w.see(View{Status: StatusGone})
	return w.wakes()
}

// otherwise decides, by an answer, whether the node must be watched in the other way, by its data or by its existence.
func (w *watch) otherwise(err error) bool {
	switch {
	case w.key.children:
		return false
	case w.byExists && w.lasting() && err == nil: // it has been made between the two requests
		w.byExists = false
		return true
	case !w.byExists && (!w.lasting() && errors.Is(err, zk.ErrNoAuth) || w.lasting() && errors.Is(err, zk.ErrNoNode)):
		w.byExists = true
		return true
	default:
		return false
	}
}

// onWatch applies a watch event. A change is followed by a new look, whose answer wakes the subscribers.
func (s *Session) onWatch(e transport.WatchEvent) {
	if e.Type == zk.EventNodeDeleted {
		s.gone(e.Path)
	}
	var wakes wakes
	s.mu.Lock()
	for _, children := range []bool{false, true} {
		w := s.watches[watchKey{path: e.Path, children: children}]
		switch {
		case w == nil:
		case e.Type == zk.EventNodeDeleted && !w.asking():
			w.see(View{Status: StatusGone})
			wakes = append(wakes, w.wakes()...)
			if w.lasting() {
				s.send(s.arm(w))
			}
		case e.Type == zk.EventNodeDeleted:
			s.send(s.arm(w)) // the node may have been made anew before the request on its way was seen: the next answer tells
		case children != (e.Type == zk.EventNodeChildrenChanged):
		case w.view.Status == StatusGone && !w.lasting():
			w.byExists = false // made anew, which nobody asked for; that watch is spent
		default:
			s.send(s.arm(w))
		}
	}
	s.mu.Unlock()
	wakes.call()
}

// forgetWatches is for a lost connection: the server forgets its watches with it. mu is held.
func (s *Session) forgetWatches() {
	for _, w := range s.watches {
		if w.view.Status == StatusPresent {
			w.view = View{}
		}
		w.asked++
		w.answered = w.asked
	}
}

// rearm sets every watch again after a reconnection. mu is held.
func (s *Session) rearm() []*transport.Call {
	var calls []*transport.Call
	for w := range maps.Values(s.watches) {
		if w.view.Status == StatusUnknown || w.lasting() {
			calls = append(calls, s.arm(w))
		}
	}
	return calls
}

// wakes are called without mu.
type wakes []func()

func (w *watch) wakes() wakes {
	all := make(wakes, 0, len(w.subscribers))
	for sub := range w.subscribers {
		all = append(all, sub.wake)
	}
	return all
}

func (ws wakes) call() {
	for _, wake := range ws {
		wake()
	}
}
