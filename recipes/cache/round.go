package cache

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

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
	heard, restart, due := f.heard, f.restart, f.due && (c.now.Load().synced || len(f.lacks) > 0)
	f.heard, f.restart, f.round = map[string]event{}, false, f.next
	f.next++
	c.mu.Unlock()
	if restart {
		f.queue, f.left, f.owed, f.whole = nil, map[int]int{}, 0, 1
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
		defer f.guarded(f.readAgainLaterLocked)
	}
	var lists []task
	err := f.each(tasks, from.read(ctx, tasks), func(t task, r session.NodeRead) {
		f.distrust(t, r)
		_, unread := f.unread[unreadable{path: t.path}]
		changed, list := f.answered(t, r)
		if changed && t.again && !unread {
			f.found(t.path)
			f.source.check(t.path)
		}
		t.owed = t.owed || unread
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
		_, unlisted := f.unread[unreadable{t.path, true}]
		t.owed = t.owed || unlisted
		below, gone := f.listed(t, r)
		f.push(below...)
		if t.again && !t.owed { // what was lacking is new with all that is below it
			f.foundBelow(below, gone)
		}
		if t.again && (len(below)+len(gone) > 0 || unlisted || !f.source.shows(t.path, r)) {
			f.source.check(t.path)
		}
	})
	if err == nil {
		f.finish()
	}
	return err
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
	before, incomplete := f.torn, f.incomplete()
	f.torn = f.unread[unreadable{path: f.root}] != nil
	c := f.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	f.settled = oldest - 1
	if c.follower == f {
		f.reportUnreadableLocked()
	}
	if before && !f.torn {
		f.restart = true
		f.waiter.Signal()
	}
	switch {
	case incomplete != nil:
		f.blocked = incomplete
		f.staleLocked()
	case f.owed == 0 && f.watching && !f.restart && c.follower == f && !c.now.Load().synced:
		f.blocked, f.filled = nil, true
		c.trouble.Over()
		c.stats.Readings, f.whole = c.stats.Readings+f.whole, 0
		c.publishLocked(&state{nodes: f.nodes, synced: true})
		f.readAgainLaterLocked()
	}
	if f.hurries != (incomplete != nil) {
		f.readAgainLaterLocked()
	}
	c.wakeLocked()
}

// reportUnreadableLocked counts what cannot be read, and logs when there is more of it once all was read, and when
// there is none again.
func (f *follower) reportUnreadableLocked() {
	c, n := f.cache, len(f.unread)
	c.stats.Unreadable = n
	switch {
	case f.owed > 0 || !f.filled && len(f.lacks) > 0: // Start returns why
		return
	case n > f.reported:
		var one unreadable
		for one = range f.unread {
			break
		}
		if len(f.lacks) > 0 {
			one = f.lacking()
		}
		c.client.Logger().Warn("cache: nodes cannot be read, and are left out",
			"root", f.root, "count", n, "one", one.path, "listing", one.listing, "error", f.unread[one])
	case n == 0 && f.reported > 0:
		c.client.Logger().Info("cache: all nodes can be read again", "root", f.root)
	}
	f.reported = n
}
