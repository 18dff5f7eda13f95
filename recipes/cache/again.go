package cache

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// What no event has reported is found by reading each node again, one after the other, so that the whole tree takes
// options.readAgain. An event comes before the answer that shows the change: if there is one when the answer is taken,
// the difference was not missed.

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

// takeAgain returns what is to be read again: as much of what the cache lacks as a round may have, or the next node.
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
