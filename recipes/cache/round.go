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
		c.trouble.Over()
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
