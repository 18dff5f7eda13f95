package cache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/gocurator/curator/retry"
)

// A Kind is what an [Event] says.
//
// Curator: CuratorCacheListener.Type, TreeCacheEvent.Type.
type Kind int

// The kinds of events.
const (
	Created Kind = iota + 1 // New is there; it was not before, or was another node of that path
	Changed                 // the data were set: from Old to New
	Deleted                 // Old is gone
	Synced                  // everything that the servers had was reported
	Stale                   // the cache may be behind, or lack something, until the next Synced
)

var kinds = []string{Created: "created", Changed: "changed", Deleted: "deleted", Synced: "synced", Stale: "stale"}

// String is the kind in a word.
func (k Kind) String() string {
	if k < Created || int(k) >= len(kinds) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return kinds[k]
}

// An Event is a difference between two versions of a cache, or says whether it is up to date. If a node was made again
// between the two, its Deleted and its Created have both nodes.
//
// Curator: CuratorCacheListener.event(), TreeCacheEvent, PathChildrenCacheEvent.
type Event struct {
	Kind Kind
	Old  Node // what was there; zero if nothing was
	New  Node // what is there; zero if nothing is
}

// Node is the node that the event is about: New, or Old of Deleted.
func (e Event) Node() Node {
	if e.Kind == Deleted {
		return e.Old
	}
	return e.New
}

// Events yields Created for each node that the cache has, Synced once it has everything, and then every difference, in
// one stream: nothing is missed or repeated in between. The loop runs on the caller's goroutine, and blocks between two
// events. Several loops do not hold up each other, nor the cache; one that is slow gets what happened to each node
// meanwhile as one difference, or none. A node that was deleted and created again remains two events.
//
// In the body of the loop, the methods that read the cache return what is as new as the event, or newer. It may block,
// and close the cache.
//
// Errors, each with no event, and the last of the loop: the end of ctx; [ErrClosed] after Close; why the cache ended by
// itself, as [CuratorCache.Err]; [ErrNotStarted] if Start was not called, or has failed. OnEvent may be called before.
//
// Curator: CuratorCache.listenable(), with a CuratorCacheListener.
func (c *CuratorCache) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		left := false
		next := func(e Event) bool {
			if ctx.Err() != nil || c.now.Load().err != nil {
				return false
			}
			left = !yield(e, nil)
			return !left
		}
		for seen := (&state{}); !left; {
			now, news := c.newer(seen)
			switch {
			case ctx.Err() != nil:
				yield(Event{}, retry.ContextError(ctx))
				return
			case news != nil:
				select {
				case <-news:
				case <-ctx.Done():
				}
			case now.err != nil:
				yield(Event{}, now.err)
				return
			default:
				differ(seen, now, next)
				seen = now
			}
		}
	}
}

// OnEvent calls fn with the events of [CuratorCache.Events], one call at a time, on a goroutine of the subscription's
// own. fn may block, use the cache, close it, and wait for another cache: nothing waits for fn. The client logs a panic
// of fn, and fn gets the next event; if fn ends its goroutine, it gets none. Close ends the calls, as stop does: none
// begins after either has returned, except for one that was about to, and they do not wait for one that is running. If
// the cache ends by itself, the last event is Stale. OnEvent panics if fn is nil.
//
// Curator: CuratorCache.listenable().addListener().
func (c *CuratorCache) OnEvent(fn func(Event)) (stop func()) {
	if fn == nil {
		panic("cache: OnEvent: the function is nil")
	}
	s := &subscription{cache: c, fn: fn, seen: &state{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	end := c.listeners.Add(s.hear, c.now.Load())
	return func() {
		s.stopped.Store(true)
		end()
	}
}

// A subscription is the function of an OnEvent. Only the goroutine of its queue uses what follows fn.
type subscription struct {
	cache   *CuratorCache
	stopped atomic.Bool
	fn      func(Event)

	seen    *state
	calling bool // fn has been called, and has not returned
}

// hear calls fn with what makes a state out of the one that was seen before. The queue drops states in between. Only
// Close breaks off: a cache that has ended by itself may be started again, and fn goes on from what it has heard.
func (s *subscription) hear(now *state) {
	seen := s.seen
	switch {
	case s.calling: // fn has ended the goroutine before this one
		return
	case now.err != nil:
		now = &state{nodes: seen.nodes}
	}
	s.seen = now
	differ(seen, now, func(e Event) bool { return !errors.Is(s.cache.now.Load().err, ErrClosed) && s.call(e) })
}

func (s *subscription) call(e Event) bool {
	if s.stopped.Load() {
		return false
	}
	s.calling = true
	_ = s.cache.client.CatchPanic("a listener of a cache", func() { s.fn(e) }) // CatchPanic logs a panic
	s.calling = false
	return true
}

// differ yields what makes the newer of two states out of the older, until yield returns false. Deleted comes before
// Created, so that a node that was made again has both in that order: first what is gone, children before
// parents, then what is there, parents before children.
func differ(seen, now *state, yield func(Event) bool) {
	if seen.synced && !now.synced && !yield(Event{Kind: Stale}) {
		return
	}
	stayed := func(before, after *Node) bool {
		return before != nil && after != nil && stays(seen.nodes, now.nodes, before.Path)
	}
	gone := func(before, after *Node) bool {
		return before == nil || stayed(before, after) || yield(newEvent(Deleted, before, after))
	}
	there := func(before, after *Node) bool {
		switch {
		case after == nil:
			return true
		case !stayed(before, after):
			return yield(newEvent(Created, before, after))
		default:
			return sameContent(before, after) || yield(newEvent(Changed, before, after))
		}
	}
	all := differences(seen.nodes, now.nodes, true, gone) && differences(seen.nodes, now.nodes, false, there)
	if all && now.synced && !seen.synced {
		yield(Event{Kind: Synced})
	}
}

func newEvent(kind Kind, before, after *Node) Event {
	e := Event{Kind: kind}
	if before != nil {
		e.Old = *before
	}
	if after != nil {
		e.New = *after
	}
	return e
}

// stays reports whether a node is the same in two versions, and those above it as well. A node may be read between the
// moment when its parent is created again and the moment when that is read. So one version has the new node below the
// old parent, and a later one has the same node below the new parent. For a subscriber who saw the first, that node
// goes and comes with its parent: otherwise the old parent would be Deleted before its child.
func stays(seen, now tree, path string) bool {
	for {
		before, known := seen.get(path)
		after, there := now.get(path)
		if known && there && !sameNode(before, after) {
			return false
		}
		dir := parent(path)
		if dir == path {
			return true
		}
		path = dir
	}
}

// sameNode reports whether two nodes of one path are one, at two moments, and not made one after the other.
func sameNode(a, b *Node) bool { return a.Stat.Czxid == b.Stat.Czxid }

// sameContent compares the data too: the zxids of a restored ensemble begin again.
func sameContent(a, b *Node) bool {
	return sameNode(a, b) && a.Stat.Mzxid == b.Stat.Mzxid && slices.Equal(a.Data, b.Data)
}
