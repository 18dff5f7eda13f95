package cache

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/session"
)

// What no event has reported is found by reading each node again, one after the other, so that the whole tree takes
// options.readAgain. An event that has come before the answer has reported the difference.

// lackingAgain is how often what the cache lacks is read again at least: it is Stale until it is complete.
const lackingAgain = time.Minute

// readAgainLaterLocked has one node read again after its share of the time, or all that the cache lacks after a minute.
func (f *follower) readAgainLaterLocked() {
	f.readNothingAgainLocked()
	readAgain := f.cache.options.readAgain
	every := readAgain / time.Duration(f.nodes.len()+1)
	if f.hurries = len(f.lacks) > 0; f.hurries {
		every = min(cmp.Or(readAgain, lackingAgain), lackingAgain)
	}
	if every > 0 {
		f.timer = time.AfterFunc(every, func() {
			f.guarded(func() { f.due = true })
			f.waiter.Signal()
		})
	}
}

func (f *follower) readNothingAgainLocked() {
	f.due = false
	if f.timer != nil {
		f.timer.Stop()
	}
}

// takeAgain returns as much of what the cache lacks as a round may read, or the next node to read again.
func (f *follower) takeAgain() []task {
	if len(f.lacks) > 0 {
		for _, path := range slices.Sorted(maps.Keys(f.lacks)) {
			f.push(task{path: path, round: f.round, again: true})
		}
		f.guarded(f.readAgainLaterLocked)
		return f.pop(f.source.room())
	}
	n, ok := f.nodes.after(f.cursor)
	if f.cursor = f.root; ok {
		f.cursor = n.Path
	}
	return []task{{path: f.cursor, round: f.round, again: true}}
}

// found counts differences that no event has reported, and logs them.
func (f *follower) found(paths ...string) {
	for _, path := range paths {
		if f.source.hears(path) {
			continue
		}
		f.guarded(func() { f.cache.stats.Found++ })
		f.cache.client.Logger().Warn("cache: a node has changed, and no event has reported it", "root", f.root, "path", path)
	}
}

// foundBelow is found for a listing.
func (f *follower) foundBelow(below []task, gone []string) {
	paths := slices.Clone(gone)
	for _, b := range below {
		if f.unread[unreadable{path: b.path}] == nil { // what could not be read is new each time
			paths = append(paths, b.path)
		}
	}
	f.found(paths...)
}

// hears reports whether a watch has heard of the change that the contents have. If it is current, and shows something
// else, it has lost the event. A child that is new, or gone, is heard of by its parent.
func (n *nodeSource) hears(path string) bool {
	return n.f.hearsOf(path) || n.knows(path) || path != n.f.root && n.asksListing(parent(path))
}

func (n *nodeSource) knows(path string) bool {
	w := n.watched[path]
	if w == nil || w.data == nil {
		return false
	}
	view := w.view()
	node, known := n.f.nodes.get(path)
	return !view.Current || known && view.Stat.Mzxid == node.Stat.Mzxid && view.Stat.Czxid == node.Stat.Czxid
}

// asksListing reports whether children of a node are still to be listed, since it is new, or its watch has news.
func (n *nodeSource) asksListing(path string) bool {
	w := n.watched[path]
	return w == nil || w.children == nil || !w.children.View().Current || !n.showsListing(w, path)
}

// shows reports whether the watch on a node's children has what a later listing says, unless it has lost an event.
func (n *nodeSource) shows(path string, r session.NodeRead) bool {
	w := n.watched[path]
	if w == nil || w.children == nil || r.Err != nil {
		return true
	}
	view := w.children.View()
	return view.Stat == nil || view.Stat.Pzxid == r.Stat.Pzxid
}

// check has the watches on a node read again.
func (n *nodeSource) check(path string) {
	if w := n.watched[path]; w != nil {
		for _, watch := range []session.Watch{w.data, w.stat, w.children} {
			if watch != nil {
				watch.ReadAgain()
			}
		}
	}
}
