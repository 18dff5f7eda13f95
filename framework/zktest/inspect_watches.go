package zktest

import (
	"cmp"
	"slices"
	"strconv"
)

// A WatchKind is what a client's watch is on, and for how long.
type WatchKind int

// The kinds of watches. The first two fire once.
const (
	WatchData       WatchKind = iota + 1 // data and existence, one kind to the server
	WatchChildren                        // the names of the children
	WatchPersistent                      // both, until it is removed
	WatchTree                            // persistent and recursive: the node and everything below it
)

var watchKindNames = []string{WatchData: "data", WatchChildren: "children", WatchPersistent: "persistent", WatchTree: "tree"}

// String returns a word for the kind, such as "tree".
func (k WatchKind) String() string {
	if k <= 0 || int(k) >= len(watchKindNames) {
		return "watch kind(" + strconv.Itoa(int(k)) + ")"
	}
	return watchKindNames[k]
}

// Watch describes a watch that a client has at a server.
type Watch struct {
	Path    string
	Kind    WatchKind
	Session int64
}

// Watches counts the watches on a path that clients have at this server. A
// client counts once for each kind.
func (s *Server) Watches(path string) int {
	s.mu.Lock()
	defer s.unlock()
	return s.watchesOn(path)
}

// WatchCount counts the watches on all paths, as Watches does.
func (s *Server) WatchCount() int {
	s.mu.Lock()
	defer s.unlock()
	return s.watchCount()
}

// ListWatches returns all watches that WatchCount counts, sorted by path,
// session and kind: for tests that must know whose watch is left, or which kind.
func (s *Server) ListWatches() []Watch {
	s.mu.Lock()
	defer s.unlock()
	var list []Watch
	s.eachWatch(func(path string, c *conn, kind WatchKind) { list = append(list, Watch{path, kind, c.id()}) })
	slices.SortFunc(list, func(a, b Watch) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

func (s *Server) watchCount() (n int) {
	s.eachWatch(func(string, *conn, WatchKind) { n++ })
	return n
}

func (s *Server) watchesOn(path string) (n int) {
	s.eachWatchOn(path, func(string, *conn, WatchKind) { n++ })
	return n
}

func (s *Server) eachWatch(call func(path string, c *conn, kind WatchKind)) {
	for path := range s.dataWatches.byPath {
		s.eachWatchOn(path, call)
	}
	for path := range s.childWatches.byPath {
		if s.dataWatches.byPath[path] == nil {
			s.eachWatchOn(path, call)
		}
	}
}

// eachWatchOn calls once for a persistent watch, though it stands in both tables. Before 3.9 a client can remove it
// from one of them alone.
func (s *Server) eachWatchOn(path string, call func(path string, c *conn, kind WatchKind)) {
	each := func(c *conn, once WatchKind, mode watchMode) {
		for _, kind := range []struct {
			bit  watchMode
			kind WatchKind
		}{{watchOnce, once}, {watchPersistent, WatchPersistent}, {watchRecursive, WatchTree}} {
			if mode&kind.bit != 0 {
				call(path, c, kind.kind)
			}
		}
	}
	inData := s.dataWatches.byPath[path]
	for c, mode := range inData {
		each(c, WatchData, mode)
	}
	for c, mode := range s.childWatches.byPath[path] {
		each(c, WatchChildren, mode&^(inData[c]&^watchOnce))
	}
}
