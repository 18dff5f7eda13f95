package session

import (
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

type watchKey struct {
	path     string
	children bool
}

// A serverWatch is a session's one watch on a node. Guarded by session.mu.
type serverWatch struct {
	key         watchKey
	view        View
	requests    int       // that set it: only the answer to the newest counts
	answered    int       // the newest that was
	again       int       // the newest of ReadAgain, unless an event has come since
	sent        time.Time // when the newest request was
	since       time.Time // when the newest subscriber came
	byExists    bool      // the node may not be read, or is missing
	unreadable  error     // why, in the first case; lasting subscribers are refused then
	subscribers map[*Watch]struct{}
}

// setView replaces what is known. A watch that has seen its node gone keeps to that, unless it is lasting.
func (w *serverWatch) setView(view View) {
	w.view = view
	if view.Status == StatusGone {
		w.unreadable = nil // another node at the path may be readable
	}
	for sub := range w.subscribers {
		sub.gone = sub.gone || view.Status == StatusGone && !sub.lasting
	}
}

func (w *serverWatch) lasting() bool { return w.any(true) }

func (w *serverWatch) any(lasting bool) bool {
	for sub := range w.subscribers {
		if sub.lasting == lasting {
			return true
		}
	}
	return false
}

func (w *serverWatch) awaitsAnswer() bool { return w.answered != w.requests }

// arm makes the request that reads the node and sets the watch. mu is held.
func (s *Session) arm(w *serverWatch) *transport.Call {
	w.requests++
	w.sent = time.Now()
	n := w.requests
	switch {
	case w.key.children:
		return transport.Children(w.key.path, true, func(children []string, stat *zk.Stat, err error) {
			s.armed(w, n, View{Stat: stat, Children: children, Err: err})
		})
	case w.byExists:
		return transport.Exists(w.key.path, !s.covered(w.key), func(stat *zk.Stat, err error) {
			s.armed(w, n, View{Stat: stat, Err: err})
		})
	default:
		return transport.Get(w.key.path, !s.covered(w.key), func(data []byte, stat *zk.Stat, err error) {
			s.armed(w, n, View{Stat: stat, Data: data, Err: err})
		})
	}
}

// armed applies the answer to request n.
func (s *Session) armed(w *serverWatch, n int, view View) {
	switch {
	case errors.Is(view.Err, zk.ErrNoNode):
		s.notifyGone(w.key.path)
	case view.Err == nil && w.key.children:
		s.notifyListed(w.key.path, view.Children, view.Stat)
	}
	s.mu.Lock()
	if s.watches[w.key] != w || n != w.requests || errors.Is(view.Err, transport.ErrBroken) {
		s.mu.Unlock()
		return
	}
	w.answered = n
	view.Read = w.sent
	switch {
	case w.switchKind(view.Err):
		wakes := w.onSwitch(view.Err)
		s.send(s.arm(w))
		s.mu.Unlock()
		wakes.call()
		return
	case view.Err == nil:
		view.Status = StatusPresent
	case errors.Is(view.Err, zk.ErrNoNode):
		view = View{Status: StatusGone}
	case passing(view.Err):
		s.putBackWatch(w, w.again == n)
		s.mu.Unlock()
		return
	// the session has moved, for instance: the next connection asks again
	case !Definite(view.Err) && !hungUp(view.Err):
		s.mu.Unlock()
		s.transport.Break(view.Err)
		return
	default:
		view.Status = StatusRefused
		if errors.Is(view.Err, ErrTooLarge) { // unlike other refusals, it has left a watch at the server
			s.unset(w.key)
		}
	}
	w.setView(view)
	wakes := w.wakes()
	s.mu.Unlock()
	wakes.call()
}

// onRemoved handles the answer to our own delete. A watch registered meanwhile sent no request and gets its answer
// here. mu is held.
func (s *Session) onRemoved(path string, err error) wakes {
	w := s.watches[watchKey{path: path}]
	switch {
	case w == nil && err != nil: // Unwatch has left the server's watch to the removal
		s.unset(watchKey{path: path})
		return nil
	case w == nil || w.view.Status != StatusUnknown || w.awaitsAnswer():
		return nil
	case err != nil || w.lasting():
		s.send(s.arm(w))
		return nil
	}
	w.setView(View{Status: StatusGone})
	return w.wakes()
}

// switchKind decides from an answer whether to watch by existence instead of data, or the reverse.
func (w *serverWatch) switchKind(err error) bool {
	switch {
	case w.key.children:
		return false
	case w.byExists && w.lasting() && err == nil && w.unreadable == nil: // made between the two requests
		w.byExists = false
		return true
	case !w.byExists && w.any(false) && (errors.Is(err, zk.ErrNoAuth) || errors.Is(err, ErrTooLarge)):
		w.byExists, w.unreadable = true, err
		return true
	case !w.byExists && w.lasting() && errors.Is(err, zk.ErrNoNode):
		w.byExists = true
		return true
	default:
		return false
	}
}

// onSwitch tells subscribers that are not lasting of a missing node: they must not take one that is made before the
// next answer for their own.
func (w *serverWatch) onSwitch(err error) wakes {
	if !errors.Is(err, zk.ErrNoNode) || !w.any(false) {
		return nil
	}
	w.setView(View{Status: StatusGone})
	return w.wakes()
}

// onWatch applies a watch event. After a change it reads the node anew, and the answer wakes the subscribers. Neither
// watches nor observers believe an event that nothing asked for.
func (s *Session) onWatch(e transport.WatchEvent) {
	if e.Type == zk.EventNodeDeleted && s.watching(e.Path) {
		s.notifyGone(e.Path)
	}
	var wakes wakes
	s.mu.Lock()
	for _, children := range []bool{false, true} {
		w := s.watches[watchKey{path: e.Path, children: children}]
		switch {
		case w == nil || w.requests == 0:
		case e.Type == zk.EventNodeDeleted && (!w.awaitsAnswer() || w.readsAgain()):
			w.setView(View{Status: StatusGone})
			wakes = append(wakes, w.wakes()...)
			if w.lasting() {
				s.send(s.arm(w))
			}
		case e.Type == zk.EventNodeDeleted:
			// the request on its way may find the node made anew: the next answer decides
			s.send(s.arm(w))
		case children != (e.Type == zk.EventNodeChildrenChanged):
		case w.view.Status == StatusGone && !w.lasting():
			w.byExists = false // made anew; that watch is spent
		case w.awaitsAnswer(): // the answer is later than this event: servers keep the order of execution
			w.again = 0
		default:
			s.send(s.arm(w))
		}
	}
	wakes = append(wakes, s.treesOf(e)...)
	s.mu.Unlock()
	wakes.call()
}

// watching reports whether the server was asked to watch a node.
func (s *Session) watching(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, children := range []bool{false, true} {
		if w := s.watches[watchKey{path: path, children: children}]; w != nil && w.requests > 0 {
			return true
		}
	}
	return false
}

// wakes are called without mu.
type wakes []func()

func (w *serverWatch) wakes() wakes {
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
