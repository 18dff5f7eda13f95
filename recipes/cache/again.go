package cache

import (
	"cmp"
	"slices"
	"time"
)

// What no event has reported is found by reading each node again, one after the other, so that the whole tree takes
// options.readAgain. An event comes before the answer that shows the change: if there is one when the answer is taken,
// the difference was not missed.

// lackingAgain is how often what the cache lacks is read again at least: it is Stale until it is complete.
const lackingAgain = time.Minute

// readAgainLaterLocked has one node read again after its share of the time.
func (f *follower) readAgainLaterLocked() {
	f.readNothingAgainLocked()
	readAgain := f.cache.options.readAgain
	every := readAgain / time.Duration(f.nodes.len()+1)
	switch n := len(f.lacks); {
	case n > 0 && n < f.hurries: // perhaps the others can be read again as well
		every = 1
	case n > 0:
		every = min(cmp.Or(readAgain, lackingAgain), lackingAgain)/time.Duration(n) + 1
	}
	f.hurries = len(f.lacks)
	if every > 0 {
		f.timer = time.AfterFunc(every, func() {
			f.cache.mu.Lock()
			defer f.cache.mu.Unlock()
			f.due = true
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

// takeAgain returns the next node to be read again. What the cache lacks comes before all that it has.
func (f *follower) takeAgain() []task {
	n, ok := f.nodes.after(f.cursor)
	switch {
	case len(f.lacks) > 0:
		f.cursor = f.lacking(f.cursor)
	case ok:
		f.cursor = n.Path
	default:
		f.cursor = f.root
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
