package cache

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// A follower keeps a cache up to date from Start to its end, through one session after the other. Its goroutine works
// in rounds: it takes the paths of which something was heard since the last round, and a part of what is still to be
// read, reads these nodes, and lists those whose children it does not know.
//
// A node of which an event has come is read by a request that is sent after that, so no answer hides a change. An event
// that comes while the node is read causes another round. So the contents at the end of a round have every change that
// was heard of before it began.
//
// A round is short, so that events are not behind a reading of the whole tree for long.
type follower struct {
	cache    *CuratorCache
	absolute string // the root as the servers know it
	waiter   session.Waiter
	stop     context.CancelFunc

	// For the goroutine alone.
	contents
	source     source
	queue      []task      // to be read, parents before their children
	left       map[int]int // tasks in the queue by the round in which they were heard of
	owed       int         // tasks in the queue that Synced waits for
	round      int
	filled     bool      // the whole tree was read once
	whole      int       // 1 if the whole tree is being read, or was since the last Synced
	torn       bool      // the root could not be read: the whole tree must be, when it can be
	reported   int       // how many unreadable nodes and listings the log has told of
	cursor     string    // the path that was read again last
	rootRead   *rootRead // nil while it may be that of another time
	wrongPaths bool      // events have the paths of other nodes

	// Guarded by cache.mu.
	observer source // whose calls count; nil without one
	watching bool   // the source hears of every change
	refused  bool   // the servers do not watch trees
	restart  bool   // the whole tree is to be read
	heard    map[string]event
	said     said // what the root's events have said
	due      bool // a node is to be read again
	next     int  // the round after the present one
	settled  int  // the contents have what was heard before this round began
	blocked  error
	timer    *time.Timer
	hurries  bool // the timer was set for what the cache lacks
}

// An event is what was heard of a path.
type event struct {
	kind zk.EventType
	said said // what the root's events had said by then
}

func newFollower(c *CuratorCache, absolute string, stop context.CancelFunc) *follower {
	f := &follower{
		cache: c, absolute: absolute, waiter: session.NewWaiter(), stop: stop, heard: map[string]event{}, left: map[int]int{}, next: 1,
	}
	f.contents = contents{
		root: c.path, depth: c.options.depth, noData: c.options.noData, keep: f.keeps, unread: map[unreadable]error{}, lacks: map[string]unreadable{},
		unreadIn: map[string]map[unreadable]struct{}{}, removed: func(path string) { f.source.forget(path) },
	}
	return f
}

var errFilterEnded = errors.New("cache: the filter has ended its goroutine")

// keeps asks the filter.
func (f *follower) keeps(relative string) (keep bool) {
	if f.cache.options.keep == nil {
		return true
	}
	err := f.cache.client.CatchPanic("the filter of a cache", func() { keep = f.cache.options.keep(relative) })
	return keep && err == nil
}

func (f *follower) follow(ctx context.Context) {
	defer f.guarded(f.readNothingAgainLocked)
	defer f.cache.end(f, errFilterEnded) // unless it has ended before, as below
	for s, err := range f.cache.client.SessionsWhileOpen(ctx, f.block) {
		if err != nil {
			f.cache.end(f, err) // the client has ended; or the cache has, and does not have this follower any more
			return
		}
		f.followIn(ctx, s)
	}
}

// block notes why there is no session.
func (f *follower) block(err error) {
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	f.blocked = err
	f.noteLocked(err)
	f.cache.wakeLocked()
}

// noteLocked logs why the cache does not follow, unless Start returns that.
func (f *follower) noteLocked(err error) {
	if c := f.cache; f.filled && c.follower == f {
		c.trouble.Note(c.client.Logger(), "cache: the cache does not follow", c.path, err)
	}
}

func (f *follower) followIn(ctx context.Context, s session.Session) {
	f.source = f.choose(s)
	defer func() { f.source.stop() }()
	f.guarded(f.readAgainLaterLocked)
	for {
		tasks := f.take(s)
		err := f.read(ctx, s, tasks)
		if err == nil && len(tasks) > 0 {
			continue
		}
		if err != nil { // no connection: what was under way is read with the whole tree
			f.locked(f.source, func(f *follower) { f.restart = true }) // perhaps it is there again, and watched
		}
		if f.waiter.Wait(ctx, s, nil) != nil {
			return
		}
	}
}

// guarded changes what is guarded by the cache's mutex.
func (f *follower) guarded(change func()) {
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	change()
}

// locked changes what is guarded by the cache's mutex, for the source whose calls count, and wakes the goroutine.
func (f *follower) locked(from source, change func(f *follower)) {
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	if f.observer == from {
		change(f)
		f.waiter.Signal()
	}
}

// hearsOf reports whether an event of a path waits for the next round, or the whole tree is to be read since events
// were missed.
func (f *follower) hearsOf(path string) bool {
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	_, heard := f.heard[path]
	return heard || f.restart || !f.watching
}

// leaveLocked gives up the source.
func (f *follower) leaveLocked() {
	f.observer = nil
	f.loseLocked()
}

// loseLocked notes that nothing is heard of from now on.
func (f *follower) loseLocked() {
	f.watching = false
	f.staleLocked()
}

func (f *follower) staleLocked() {
	if now := f.cache.now.Load(); f.cache.follower == f && now.synced {
		f.cache.publishLocked(&state{nodes: now.nodes})
	}
}

// nextRoundLocked is the first round that begins after the call.
func (f *follower) nextRoundLocked() int {
	f.waiter.Signal()
	return f.next
}
