package cache

import (
	"slices"
	"time"
)

// What no event has reported is found by reading each node again, one after the other, so that the whole tree takes
// options.readAgain. An event comes before the answer that shows the change: if there is one when the answer is taken,
// the difference was not missed.

// rootAgain is how often a root is read again that may not be read: the cache is Stale until it can be.
const rootAgain = time.Minute

// readAgainLater has one node read again after its share of the time.
func (f *follower) readAgainLater() {
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	f.readAgainLaterLocked()
}

func (f *follower) readAgainLaterLocked() {
	f.readNothingAgainLocked()
	every := f.cache.options.readAgain / time.Duration(f.nodes.len()+1)
	if f.torn {
		every = rootAgain
	}
	if every > 0 {
		f.timer = time.AfterFunc(every, func() {
			f.cache.mu.Lock()
			defer f.cache.mu.Unlock()
			f.due = true
			f.waiter.Signal()
		})
	}
}

func (f *follower) readNothingAgain() {
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	f.readNothingAgainLocked()
}

func (f *follower) readNothingAgainLocked() {
	f.due = false
	if f.timer != nil {
		f.timer.Stop()
	}
}

// takeAgain returns the next node to be read again.
func (f *follower) takeAgain() []task {
	n, ok := f.nodes.after(f.cursor)
	f.cursor = f.root
	if ok && !f.torn {
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
		f.cache.mu.Lock()
		f.cache.stats.Found++
		f.cache.mu.Unlock()
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
