package session

import (
	"maps"
	"slices"
	"strings"

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

type observers map[string]map[ChildObserver]struct{}

// ObserveChildren gives a directory an observer, until UnobserveChildren. It asks for nothing by itself.
func (s *Session) ObserveChildren(dir string, o ChildObserver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.observers[dir] == nil {
		s.observers[dir] = map[ChildObserver]struct{}{}
	}
	s.observers[dir][o] = struct{}{}
}

// UnobserveChildren ends ObserveChildren.
func (s *Session) UnobserveChildren(dir string, o ChildObserver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.observers[dir], o)
	if len(s.observers[dir]) == 0 {
		delete(s.observers, dir)
	}
}

// observing returns observers, to be called without mu.
func (s *Session) observing(dir string) []ChildObserver {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.observers[dir]) == 0 {
		return nil
	}
	all := make([]ChildObserver, 0, len(s.observers[dir]))
	for o := range s.observers[dir] {
		all = append(all, o)
	}
	return all
}

// notifyListed reports a listing whose names belong to the caller.
func (s *Session) notifyListed(dir string, children []string, stat *zk.Stat) {
	s.sweepListed(dir, children)
	for _, o := range s.observing(dir) {
		o.Listed(slices.Clone(children), stat)
	}
}

func (s *Session) notifyCreated(path string) {
	dir, name := split(path)
	for _, o := range s.observing(dir) {
		o.Created(name)
	}
}

func (s *Session) notifyGone(path string) {
	dir, name := split(path)
	for _, o := range s.observing(dir) {
		o.Gone(name)
	}
}

func (s *Session) notifyBehind() {
	s.mu.Lock()
	var all []ChildObserver
	for _, observers := range s.observers {
		all = slices.AppendSeq(all, maps.Keys(observers))
	}
	s.mu.Unlock()
	for _, o := range all {
		o.Behind()
	}
}

// split takes no root.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i == 0 {
		return "/", path[1:]
	}
	return path[:i], path[i+1:]
}
