package cache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
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
	torn       bool      // the root could not be read: the whole tree must be, when it can be
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
		root: c.path, depth: c.options.depth, noData: c.options.noData, keep: f.keeps, unread: map[unreadable]error{},
		removed: func(path string) { f.source.forget(path) },
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
	defer f.readNothingAgain()
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
	f.cache.wakeLocked()
}

func (f *follower) followIn(ctx context.Context, s session.Session) {
	f.source = f.choose(s)
	defer func() {
		f.source.stop()
		f.lose()
	}()
	f.readAgainLater()
	for {
		tasks := f.take(s)
		err := f.read(ctx, s, tasks)
		if err == nil && len(tasks) > 0 {
			continue
		}
		if err != nil { // no connection: what was under way is read with the whole tree
			f.readWhole()
		}
		if f.waiter.Wait(ctx, s, nil) != nil {
			return
		}
	}
}

// readWhole has the whole tree read, by requests from now on.
func (f *follower) readWhole() {
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
	f.restart = true
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

// lose notes that nothing is heard of from now on.
func (f *follower) lose() {
	f.cache.mu.Lock()
	defer f.cache.mu.Unlock()
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

// take begins a round, and returns what is to be read in it.
func (f *follower) take(s session.Session) []task {
	c := f.cache
	c.mu.Lock()
	if f.refused {
		f.refused = false
		c.mu.Unlock()
		f.source.stop()
		f.source = f.watchNodes(s)
		c.mu.Lock()
	}
	if !f.watching {
		c.mu.Unlock()
		return nil
	}
	heard, restart, due := f.heard, f.restart, f.due && (c.now.Load().synced || f.torn)
	f.heard, f.restart, f.round = map[string]event{}, false, f.next
	f.next++
	c.mu.Unlock()
	if restart {
		f.queue, f.left, f.owed = nil, map[int]int{}, 0
		f.push(task{path: f.root, round: f.round, whole: true, owed: true})
		f.rootRead = nil
	}
	tasks := f.ofEvents(heard)
	tasks = append(tasks, f.pop(f.source.room())...)
	if len(tasks) == 0 && due {
		tasks = f.takeAgain()
	}
	return tasks
}

func (f *follower) push(tasks ...task) {
	f.queue = append(f.queue, tasks...)
	f.count(tasks, 1)
}

func (f *follower) pop(room int) []task {
	n := min(len(f.queue), room)
	tasks := f.queue[:n]
	if f.queue = f.queue[n:]; len(f.queue) == 0 {
		f.queue = nil // it may have been long
	}
	f.count(tasks, -1)
	return tasks
}

func (f *follower) count(tasks []task, by int) {
	for _, t := range tasks {
		if f.left[t.round] += by; f.left[t.round] == 0 {
			delete(f.left, t.round)
		}
		if t.owed {
			f.owed += by
		}
	}
}

// ofEvents returns what is to be read because of events. A node whose last event says that it is gone need not be read:
// answers that came before that event were taken in earlier rounds.
func (f *follower) ofEvents(heard map[string]event) (tasks []task) {
	for _, path := range slices.Sorted(maps.Keys(heard)) {
		e := heard[path]
		switch {
		case e.kind == zk.EventNodeDeleted && path != f.root:
			f.drop(path)
		case !f.source.news(path):
		case f.has(path) || path == f.root || !f.always && f.wants(path):
			tasks = append(tasks, task{path: path, round: f.round, event: e, whole: path == f.root && !f.always && f.rootRead == nil})
		}
	}
	f.publish()
	return tasks
}

// read reads the nodes of a round, and lists what it must. An error says that there is no connection, or that the
// session or the cache is over.
func (f *follower) read(ctx context.Context, s session.Session, tasks []task) error {
	from := f.source
	if len(tasks) == 1 && tasks[0].again {
		from = reader{f, s}
		defer f.readAgainLater()
	}
	var lists []task
	err := f.each(tasks, from.read(ctx, tasks), func(t task, r session.NodeRead) {
		f.distrust(t, r)
		changed, list := f.answered(t, r)
		if changed && t.again {
			f.found(t.path)
			f.source.check(t.path)
		}
		if list {
			lists = append(lists, t)
		}
		if f.has(t.path) && !f.source.watches(t.path) {
			t.again = false
			f.push(t)
		}
	})
	if err != nil {
		return err
	}
	err = f.each(lists, from.list(ctx, lists), func(t task, r session.NodeRead) {
		_, refused := f.unread[unreadable{t.path, true}]
		below, gone := f.listed(t, r)
		f.push(below...)
		if t.again && (len(below)+len(gone) > 0 || refused) {
			f.foundBelow(below, gone)
			f.source.check(t.path)
		}
	})
	if err != nil {
		return err
	}
	torn := f.torn
	if f.finish(); f.torn != torn {
		f.readAgainLater()
	}
	return nil
}

// each has the answers to tasks taken.
func (f *follower) each(tasks []task, answers iter.Seq2[session.NodeRead, error], take func(t task, r session.NodeRead)) error {
	i := 0
	for r, err := range answers {
		if err != nil {
			return err
		}
		take(tasks[i], r)
		f.publish()
		i++
	}
	return nil
}

// tooLarge ends the cache if the contents have more bytes than so many times the limit.
func (f *follower) tooLarge(times int64) bool {
	c, limit := f.cache, f.cache.options.maxBytes
	if limit == 0 || f.nodes.bytes() <= limit*times {
		return false
	}
	c.end(f, fmt.Errorf("%w: %d nodes with %d bytes, at most %d are allowed", ErrTooLarge, f.nodes.len(), f.nodes.bytes(), limit))
	return true
}

// publish shows the contents, unless they are too large. While the tree is read after an outage, they may have what is
// gone beside what is new: then they may be twice as large.
func (f *follower) publish() {
	c := f.cache
	if !f.filled && f.tooLarge(1) || f.tooLarge(2) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now.Load(); c.follower == f && now.nodes != f.nodes {
		c.publishLocked(&state{nodes: f.nodes, synced: now.synced})
	}
}

// finish ends a round. Synced is decided under the mutex that the loss of the watch needs: it does not come after that.
func (f *follower) finish() {
	if f.owed == 0 && f.tooLarge(1) {
		return
	}
	oldest := f.round + 1
	for round := range f.left {
		oldest = min(oldest, round)
	}
	rootErr := f.unread[unreadable{path: f.root}]
	c := f.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	f.settled = oldest - 1
	if c.follower == f {
		f.reportUnreadableLocked()
	}
	switch {
	case rootErr != nil:
		f.torn, f.blocked = true, rootErr
		f.staleLocked()
	case f.torn:
		f.torn, f.restart = false, true
		f.waiter.Signal()
	case f.owed == 0 && f.watching && !f.restart && c.follower == f && !c.now.Load().synced:
		f.blocked, f.filled = nil, true
		c.stats.Readings++
		c.publishLocked(&state{nodes: f.nodes, synced: true})
		f.readAgainLaterLocked()
	}
	c.wakeLocked()
}

// reportUnreadableLocked counts what cannot be read, and logs when there is more of it.
func (f *follower) reportUnreadableLocked() {
	c, n := f.cache, len(f.unread)
	if n > c.stats.Unreadable {
		for u, err := range f.unread {
			c.client.Logger().Warn("cache: nodes cannot be read, and are left out", "root", f.root, "count", n, "one", u.path, "error", err)
			break
		}
	}
	c.stats.Unreadable = n
}
