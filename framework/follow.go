package framework

import (
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// A Follower is told what its session hears of a directory's children, in the order in which it arrives: by the goroutine that
// reads the connection, before anybody else can see it. Its methods must not block. Nothing is told of what happens while the
// session is not connected.
type Follower interface {
	// Listed tells of a listing, and of the directory's Stat that came with it. children is the follower's own.
	Listed(children []string, dir *zk.Stat)
	// Entered tells of a node that [Session.Enter] or [Session.EnterUnlisted] has made.
	Entered(name string)
	// Gone tells that a child was seen to be deleted, or to be missing.
	Gone(name string)
}

// followers are those of each directory.
type followers map[string]map[Follower]struct{}

// Follow has a follower told of the children of a directory, until Unfollow. It asks for nothing by itself.
func (s *Session) Follow(dir string, f Follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.followers[dir] == nil {
		s.followers[dir] = map[Follower]struct{}{}
	}
	s.followers[dir][f] = struct{}{}
}

// Unfollow ends Follow.
func (s *Session) Unfollow(dir string, f Follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.followers[dir], f)
	if len(s.followers[dir]) == 0 {
		delete(s.followers, dir)
	}
}

// following returns the followers of a directory. They are told without mu.
func (s *Session) following(dir string) []Follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.followers[dir]) == 0 {
		return nil
	}
	all := make([]Follower, 0, len(s.followers[dir]))
	for f := range s.followers[dir] {
		all = append(all, f)
	}
	return all
}

// listed tells of a listing whose names are somebody else's.
func (s *Session) listed(dir string, children []string, stat *zk.Stat) {
	for _, f := range s.following(dir) {
		f.Listed(slices.Clone(children), stat)
	}
}

func (s *Session) entered(path string) {
	dir, name := split(path)
	for _, f := range s.following(dir) {
		f.Entered(name)
	}
}

func (s *Session) gone(path string) {
	dir, name := split(path)
	for _, f := range s.following(dir) {
		f.Gone(name)
	}
}

// split cuts an absolute path other than the root in two.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i == 0 {
		return "/", path[1:]
	}
	return path[:i], path[i+1:]
}
