package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A TreeObserver hears what changes at and below a node. The goroutine that reads the connection calls its methods,
// which must not block.
type TreeObserver interface {
	// Watching says that the server has set the watch, after every reconnection again. Nothing reports earlier changes:
	// the observer must read everything anew, by reads sent from now on.
	Watching()
	// Changed says that a node was created or deleted, or its data set. Servers since 3.8.4 say nothing of nodes that
	// the client may not read.
	Changed(kind zk.EventType, path string)
	// Refused is the last call: the server that the session has moved to does not know such watches ([ErrUnsupported]),
	// or closes connections on them.
	Refused(err error)
}

// A tree is a session's one watch on a node and all below it. Guarded by session.mu.
type tree struct {
	path      string
	observers map[TreeObserver]bool // whether Watching was called on this connection
	leftData  bool                  // a data watch on the node is still set
	set       bool                  // the server has answered that it watches
}

// forget is for a lost connection.
func (t *tree) forget() {
	t.set = false
	for o := range t.observers {
		t.observers[o] = false
	}
}

// WatchTree reports the changes of a node, which need not exist, and of everything below it to an observer, until
// UnwatchTree or the end of the session. It does not block. All observers of a path share one watch at the server.
//
// Errors: [ErrUnsupported] if the servers are known to lack such watches, which came with 3.6; otherwise the observer's
// Refused comes later. A client's first request to a server that lacks them costs the connection: the server closes it.
func (s *Session) WatchTree(path string, o TreeObserver) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.support.Lacks(transport.FeatureTreeWatches) {
		return noTrees()
	}
	t := s.trees[path]
	if t == nil {
		t = &tree{path: path, observers: map[TreeObserver]bool{}}
		// From now on the node's own data watch is not set. One that is there would stay behind.
		if w := s.watches[watchKey{path: path}]; w != nil && w.requests > 0 {
			s.unset(w.key)
		}
		s.trees[path] = t
	}
	t.observers[o] = false
	s.send(s.armTree(t)...)
	if s.needsWake(s.clock.Now()) {
		s.wakeClock()
	}
	return nil
}

func noTrees() error {
	return fmt.Errorf("%w: watches of trees came with ZooKeeper 3.6", ErrUnsupported)
}

// UnwatchTree ends WatchTree. The observer gets no call from then on, but may be in one.
func (s *Session) UnwatchTree(path string, o TreeObserver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trees[path]
	if t == nil {
		return
	}
	delete(t.observers, o)
	if len(t.observers) > 0 {
		return
	}
	delete(s.trees, path)
	s.send(s.unsetTree(path, transport.TreeWatch)...)
	if w := s.watches[watchKey{path: path}]; t.leftData && (w == nil || w.requests == 0) {
		s.unset(watchKey{path: path})
	}
}

// unsetTree takes a tree's watch off the server, unless it is set again meanwhile. Servers before 3.9 cannot tell it
// from others: there all watches on the path go, and those that are wanted are set again. mu is held.
func (s *Session) unsetTree(path string, table transport.WatchType) []*transport.Call {
	if s.trees[path] != nil {
		return nil
	}
	unset := transport.RemoveWatches(path, table, func(err error) {
		if errors.Is(err, transport.ErrMarshalling) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.send(s.unsetTree(path, transport.AnyWatch)...)
			return
		}
		s.takenOff(err, func() []*transport.Call { return s.unsetTree(path, table) })
	})
	return append(one(unset), s.rearmAt(path)...)
}

// covered reports whether a tree's watch reports a node's data: then the node has no data watch of its own. Before 3.9
// that would replace the tree's, and its removal take the tree's off. A children watch does neither: servers keep it in
// another table. mu is held.
func (s *Session) covered(key watchKey) bool { return !key.children && s.trees[key.path] != nil }

// armTree makes the requests that set the watch, and then those on the same node, which it may have replaced. If
// connections have ended on such a request, another must be answered first. mu is held.
func (s *Session) armTree(t *tree) []*transport.Call {
	set := transport.WatchTree(t.path, func(err error) { s.treeArmed(t, err) })
	if !s.support.Doubts(set) {
		return append(one(set), s.rearmAt(t.path)...)
	}
	return one(s.sureFirst(func() []*transport.Call {
		if s.trees[t.path] != t {
			return nil
		}
		return append(one(set), s.rearmAt(t.path)...)
	}))
}

// mu is held.
func (s *Session) rearmAt(path string) []*transport.Call {
	var calls []*transport.Call
	for _, children := range []bool{false, true} {
		w := s.watches[watchKey{path: path, children: children}]
		if w != nil && w.requests > 0 && (w.view.Status == StatusPresent || w.view.Status == StatusUnknown || w.lasting()) {
			calls = append(calls, s.arm(w))
		}
	}
	return calls
}

// mu is held.
func (s *Session) rearmTrees() []*transport.Call {
	var calls []*transport.Call
	for _, path := range slices.Sorted(maps.Keys(s.trees)) {
		calls = append(calls, s.armTree(s.trees[path])...)
	}
	return calls
}

func (s *Session) treeArmed(t *tree, err error) {
	if !passing(err) && s.unanswered(err) {
		return // set on the next connection
	}
	var calls wakes
	s.mu.Lock()
	switch {
	case s.trees[t.path] != t:
	case passing(err):
		s.putBackTree(t)
	case err != nil:
		calls = s.refuseTree(t, err)
		s.send(s.rearmAt(t.path)...) // which had no watch of their own
	default:
		t.set = true
		for o, told := range t.observers {
			if !told {
				t.observers[o] = true
				calls = append(calls, o.Watching)
			}
		}
	}
	s.mu.Unlock()
	calls.call()
}

// mu is held.
func (s *Session) refuseTree(t *tree, err error) wakes {
	delete(s.trees, t.path)
	var calls wakes
	for o := range t.observers {
		calls = append(calls, func() { o.Refused(err) })
	}
	return calls
}

// giveUpTrees forgets all trees if the servers lack such watches. mu is held.
func (s *Session) giveUpTrees() wakes {
	var calls wakes
	if len(s.trees) > 0 && s.support.Lacks(transport.FeatureTreeWatches) {
		for _, t := range s.trees {
			calls = append(calls, s.refuseTree(t, noTrees())...)
		}
	}
	return calls
}

// treesOf returns the calls of trees' observers for an event. A change of children is another watch's. mu is held.
func (s *Session) treesOf(e transport.WatchEvent) wakes {
	if len(s.trees) == 0 || e.Type == zk.EventNodeChildrenChanged {
		return nil
	}
	var calls wakes
	for path := e.Path; ; path = parent(path) {
		if t := s.trees[path]; t != nil {
			for o, told := range t.observers {
				if told {
					calls = append(calls, func() { o.Changed(e.Type, e.Path) })
				}
			}
		}
		if path == "/" {
			return calls
		}
	}
}
