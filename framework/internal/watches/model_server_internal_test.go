package watches

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// A simpleServer keeps watches in the most obvious way, and answers and reports in the order of execution.
type simpleServer struct {
	nodes    map[string]int // version
	mzxid    map[string]int64
	zxid     int64 // the newest change's
	data     map[string]bool
	children map[string]bool
	trees    map[string]bool
	// whether the data at a path may not be read now; without an entry it was readable all the time
	unreadable map[string]bool
	// before 3.9 a session has one watch of data or of a tree on a path: the newer replaces the other
	old bool
}

func newSimpleServer() *simpleServer {
	return &simpleServer{
		nodes: map[string]int{}, mzxid: map[string]int64{}, data: map[string]bool{}, children: map[string]bool{}, trees: map[string]bool{}, unreadable: map[string]bool{},
	}
}

func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

type simpleEvent struct {
	kind zk.EventType
	path string
}

// change creates, deletes or sets a node, and returns the events.
func (s *simpleServer) change(path string, create, remove bool) (events []simpleEvent) {
	_, there := s.nodes[path]
	if create != there { // it changes something
		s.zxid++
		s.mzxid[path] = s.zxid
	}
	switch {
	case create && !there:
		s.nodes[path] = 1
		events = s.fire(zk.EventNodeCreated, path, s.data)
	case remove && there:
		delete(s.nodes, path)
		both := map[string]bool{path: s.data[path] || s.children[path]}
		delete(s.data, path)
		delete(s.children, path)
		events = s.fire(zk.EventNodeDeleted, path, both)
	case !create && !remove && there:
		s.nodes[path]++
		return s.fire(zk.EventNodeDataChanged, path, s.data)
	default:
		return nil
	}
	if up := parentOf(path); s.children[up] {
		delete(s.children, up)
		events = append(events, simpleEvent{zk.EventNodeChildrenChanged, up})
	}
	return events
}

func (s *simpleServer) fire(kind zk.EventType, path string, watches map[string]bool) (events []simpleEvent) {
	fires := watches[path]
	delete(watches, path)
	for at := path; ; at = parentOf(at) {
		fires = fires || s.trees[at]
		if at == "/" {
			break
		}
	}
	if fires {
		return []simpleEvent{{kind, path}}
	}
	return nil
}

// set sets a watch as setWatches does, or returns the event that it sends instead.
func (s *simpleServer) set(r Request) []simpleEvent {
	switch _, there := s.nodes[r.Path]; {
	case !there:
		return []simpleEvent{{zk.EventNodeDeleted, r.Path}}
	case s.mzxid[r.Path] > r.Since:
		return []simpleEvent{{zk.EventNodeDataChanged, r.Path}}
	}
	s.data[r.Path] = true
	if s.old {
		delete(s.trees, r.Path)
	}
	return nil
}

func (s *simpleServer) childrenOf(path string) (names []string) {
	for node, version := range s.nodes {
		if parentOf(node) == path {
			names = append(names, fmt.Sprint(node, "#", version > 0))
		}
	}
	slices.Sort(names)
	return names
}

func (s *simpleServer) answer(r Request) Answer {
	if s.old {
		switch r.Op {
		case RemoveTree:
			return Answer{Outcome: Unsupported, Err: errors.New("unsupported")}
		case SetTree:
			delete(s.data, r.Path)
		case RemoveData:
			delete(s.trees, r.Path)
		}
	}
	version, there := s.nodes[r.Path]
	stat := &zk.Stat{Version: int32(version), Mzxid: s.mzxid[r.Path]}
	missing := Answer{Outcome: Missing, Err: errors.New("no node")}
	switch r.Op {
	case ReadData, ReadStat:
		if r.Op == ReadData && there && s.unreadable[r.Path] {
			return Answer{Outcome: Forbidden, Err: errors.New("no permission")}
		}
		if r.Watch && (there || r.Op == ReadStat) {
			s.data[r.Path] = true
			if s.old {
				delete(s.trees, r.Path)
			}
		}
		if !there {
			return missing
		}
		if r.Op == ReadData {
			return Answer{Stat: stat, Data: fmt.Append(nil, version)}
		}
	case ReadChildren:
		if !there {
			return missing
		}
		s.children[r.Path] = true
		return Answer{Stat: stat, Children: s.childrenOf(r.Path)}
	case SetTree:
		s.trees[r.Path] = true
	case RemoveData:
		delete(s.data, r.Path)
	case RemoveChildren:
		delete(s.children, r.Path)
	case RemoveTree:
		delete(s.trees, r.Path)
	case RemoveAny:
		delete(s.trees, r.Path)
		delete(s.data, r.Path)
		delete(s.children, r.Path)
	}
	return Answer{Stat: stat}
}

// A treeEar follows a tree as a cache would: it reads all when the watch is set, and a node when it hears of it.
type treeEar struct {
	path    string
	server  *simpleServer
	known   map[string]int
	watches bool // between Watching and Lost
	refused bool
}

func (e *treeEar) read(path string) {
	delete(e.known, path)
	if version, ok := e.server.nodes[path]; ok && (path == e.path || strings.HasPrefix(path, e.path+"/")) {
		e.known[path] = version
	}
}

func (e *treeEar) Watching() {
	e.watches = true
	for _, path := range modelPaths {
		e.read(path)
	}
}
func (e *treeEar) Changed(_ zk.EventType, path string) { e.read(path) }
func (e *treeEar) Lost()                               { e.watches = false }
func (e *treeEar) Refused(error)                       { e.refused = true }
