package live

import (
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"
)

// A ChildObserver hears what its session learns of a directory's children, in the order of arrival: on the goroutine
// that reads the connection, before any other can see it. Its methods must not block. It hears nothing of what happens
// while the session is not connected.
type ChildObserver interface {
	// Listed reports a listing, with the directory's Stat. children is the observer's own.
	Listed(children []string, dir *zk.Stat)
	// Created reports a node of [Session.CreateProtected] or [Session.CreateProtectedUnlisted].
	Created(name string)
	// Gone reports a child that was deleted, or found missing.
	Gone(name string)
	// Behind says that what was reported so far is no measure for what follows: the session may go on at a server that
	// is behind it, and finds a child missing that is yet to come there.
	Behind()
}

// observers are the observers of all directories. The functions that report may not be called under the mutex.
type observers struct {
	*base
	sweep func(dir string, children []string)   // hears of each listing first
	of    map[string]map[ChildObserver]struct{} // by directory; guarded by the mutex
}

func (all *observers) add(dir string, o ChildObserver) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.of[dir] == nil {
		all.of[dir] = map[ChildObserver]struct{}{}
	}
	all.of[dir][o] = struct{}{}
}

func (all *observers) remove(dir string, o ChildObserver) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.of[dir], o)
	if len(all.of[dir]) == 0 {
		delete(all.of, dir)
	}
}

// at returns the observers of a directory.
func (all *observers) at(dir string) []ChildObserver {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.of[dir]) == 0 {
		return nil
	}
	return slices.Collect(maps.Keys(all.of[dir]))
}

// listed reports a listing whose names belong to the caller.
func (all *observers) listed(dir string, children []string, stat *zk.Stat) {
	all.sweep(dir, children)
	for _, o := range all.at(dir) {
		o.Listed(slices.Clone(children), stat)
	}
}

func (all *observers) created(path string) {
	dir, name := split(path)
	for _, o := range all.at(dir) {
		o.Created(name)
	}
}

func (all *observers) gone(path string) {
	dir, name := split(path)
	for _, o := range all.at(dir) {
		o.Gone(name)
	}
}

func (all *observers) behind() {
	all.mu.Lock()
	var called []ChildObserver
	for _, observers := range all.of {
		called = slices.AppendSeq(called, maps.Keys(observers))
	}
	all.mu.Unlock()
	for _, o := range called {
		o.Behind()
	}
}

// A TreeObserver hears what changes at and below a node. The goroutine that reads the connection calls its methods,
// which must not block.
type TreeObserver interface {
	// Watching says that the server has set the watch, after every reconnection again. Nothing reports earlier changes:
	// the observer must read everything anew, by reads sent from now on.
	Watching()
	// Changed says that a node was created or deleted, or its data set. Servers since 3.8.4 say nothing of nodes that
	// the client may not read.
	Changed(kind zk.EventType, path string)
	// Lost says that the connection is lost, and the watch with it: nothing reports what happens until Watching is
	// called again. It comes in the order of the events, and only after Watching.
	Lost()
	// Refused is the last call: the server that the session has moved to does not know such watches ([ErrUnsupported]),
	// or closes connections on them.
	Refused(err error)
}
