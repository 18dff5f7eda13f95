package watches

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// A TreeObserver hears what changes at and below a node. Its methods are among the functions that Wakes returns.
type TreeObserver = session.TreeObserver

// A tree is the session's one watch on a node and all below it.
type tree struct {
	observers map[TreeObserver]bool // whether Watching was called on this connection
	leftData  bool                  // a data watch on the node is still set
	set       bool                  // the server has answered that it watches
}

// ObserveTree gives an observer to a node and all below it. All observers of a path share one watch at the server,
// which is set once SetTrees was called on this connection.
func (t *Table) ObserveTree(path string, o TreeObserver, now time.Time) {
	if t.trees[path] == nil {
		if t.takesTrees {
			t.uncover(path)
		}
		t.trees[path] = &tree{observers: map[TreeObserver]bool{}}
	}
	t.trees[path].observers[o] = false
	t.setTree(path, now)
}

// SetTrees says that the server takes watches of trees, and makes the requests for them, as Attached does on a
// connection that is yet to come. Without it the nodes have their own watches.
func (t *Table) SetTrees(now time.Time) {
	if t.takesTrees {
		return
	}
	for _, path := range t.treePaths() {
		t.uncover(path)
	}
	t.takesTrees = true
	t.setTrees(now)
}

// uncover takes the data watch of a node off, which a tree is going to cover: it would stay behind.
func (t *Table) uncover(path string) {
	if w := t.nodes[Key{Path: path}]; w != nil && w.phase != deferred {
		t.takeOff(w.key)
	}
}

// setTree makes the request that sets the watch of a tree, and then those on the same node, which it may have replaced.
func (t *Table) setTree(path string, now time.Time) {
	tree := t.trees[path]
	if tree == nil || !t.attached || !t.takesTrees {
		return
	}
	t.requests = append(t.requests, Request{Op: SetTree, Path: path, tree: tree})
	t.askAt(path, now)
}

func (t *Table) setTrees(now time.Time) {
	for _, path := range t.treePaths() {
		t.setTree(path, now)
	}
}

func (t *Table) treePaths() []string { return slices.Sorted(maps.Keys(t.trees)) }

// askAt sets the watches on a node again. A request that is under way may have left out the watch, or set one that was
// taken off.
func (t *Table) askAt(path string, now time.Time) {
	for _, children := range []bool{false, true} {
		w := t.nodes[Key{path, children}]
		if w == nil || w.phase == deferred {
			continue
		}
		if w.pending() || w.view.Status == Present || w.view.Status == Unknown || w.persistent() {
			t.ask(w, now)
		}
	}
}

// UnobserveTree ends ObserveTree. The observer gets no call from then on but one that Wakes has returned.
func (t *Table) UnobserveTree(path string, o TreeObserver, now time.Time) {
	tree := t.trees[path]
	if tree == nil {
		return
	}
	delete(tree.observers, o)
	if len(tree.observers) > 0 {
		return
	}
	delete(t.trees, path)
	t.removeTree(path, RemoveTree, now)
	if w := t.nodes[Key{Path: path}]; tree.leftData && (w == nil || w.phase == deferred) {
		t.takeOff(Key{Path: path})
	}
}

// removeTree removes a tree's watch from the server, unless it was set again. Servers before 3.9 cannot distinguish it
// from others, so there it removes all watches on the path, and sets the needed ones again.
func (t *Table) removeTree(path string, op Op, now time.Time) {
	if t.trees[path] != nil || !t.attached || !t.takesTrees {
		return
	}
	t.requests = append(t.requests, Request{Op: op, Path: path})
	t.askAt(path, now)
}

// covered reports whether a tree's watch reports a node's data. Then the node has no data watch, which before 3.9 would
// replace the tree's, and remove it with its own removal. Servers keep children watches in another table.
func (t *Table) covered(key Key) bool { return !key.Children && t.hasTree(key.Path) }

// hasTree reports whether the watch of a tree on a node is set, or asked for, on this connection, or will be on the
// next.
func (t *Table) hasTree(path string) bool { return t.takesTrees && t.trees[path] != nil }

// HasTrees reports whether any tree is observed.
func (t *Table) HasTrees() bool { return len(t.trees) > 0 }

// RefuseTrees ends all observations of trees, for a server that does not know them.
func (t *Table) RefuseTrees(err error, now time.Time) {
	for _, path := range t.treePaths() {
		t.refuseTree(path, err, now)
	}
}

func (t *Table) refuseTree(path string, err error, now time.Time) {
	tree := t.trees[path]
	covered := t.covered(Key{Path: path})
	delete(t.trees, path)
	for o := range tree.observers {
		t.wakes = append(t.wakes, func() { o.Refused(err) })
	}
	if covered { // the node has no watch of its own
		t.askAt(path, now)
	}
}

func (t *Table) treeAnswered(r Request, a Answer, now time.Time) (broken bool) {
	tree := t.trees[r.Path]
	switch {
	case a.Outcome == Unclear:
		return true
	case a.Outcome == Lost, tree == nil, tree != r.tree:
	case a.Outcome == Busy:
		t.refused = append(t.refused, r)
	case a.Outcome != Found:
		t.refuseTree(r.Path, a.Err, now)
	default:
		tree.set = true
		for o, watching := range tree.observers {
			if !watching {
				tree.observers[o] = true
				t.wakes = append(t.wakes, o.Watching)
			}
		}
	}
	return false
}

// treeEvent reports an event to the observers of all trees that the node is in. A change of children is another
// watch's.
func (t *Table) treeEvent(kind zk.EventType, path string) {
	if len(t.trees) == 0 || kind == zk.EventNodeChildrenChanged {
		return
	}
	for at := path; ; at = at[:max(strings.LastIndexByte(at, '/'), 1)] {
		if tree := t.trees[at]; tree != nil {
			for o, watching := range tree.observers {
				if watching {
					t.wakes = append(t.wakes, func() { o.Changed(kind, path) })
				}
			}
		}
		if at == "/" {
			return
		}
	}
}
