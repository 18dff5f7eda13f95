package cache

import (
	"context"
	"iter"
	"time"

	"github.com/gocurator/curator/retry"
)

// A state is what readers and subscribers see of a cache. It is not changed: a newer one takes its place.
type state struct {
	nodes  tree
	synced bool
	err    error // why the cache has ended; nothing follows
}

// A Snapshot is what a cache had at one moment. It does not change, and is safe for concurrent use.
type Snapshot struct{ nodes tree }

// Snapshot returns the newest version of the tree. It does not block, and copies nothing.
//
// Curator has none: CuratorCache.stream() sees changes while it runs.
func (c *CuratorCache) Snapshot() Snapshot {
	if now := c.now.Load(); now != nil { // the zero value can be printed
		return Snapshot{now.nodes}
	}
	return Snapshot{}
}

// Get is [Snapshot.Get] of the newest version.
//
// Curator: CuratorCache.get(), PathChildrenCache.getCurrentData(fullPath), NodeCache.getCurrentData().
func (c *CuratorCache) Get(path string) (Node, bool) { return c.Snapshot().Get(path) }

// Children is [Snapshot.Children] of the newest version.
//
// Curator: TreeCache.getCurrentChildren(), CuratorCacheAccessor.parentPathFilter(), PathChildrenCache.getCurrentData().
func (c *CuratorCache) Children(path string) iter.Seq[Node] { return c.Snapshot().Children(path) }

// All is [Snapshot.All] of the newest version.
//
// Curator: CuratorCache.stream(), TreeCache.iterator().
func (c *CuratorCache) All() iter.Seq[Node] { return c.Snapshot().All() }

// Len is [Snapshot.Len] of the newest version.
//
// Curator: CuratorCache.size().
func (c *CuratorCache) Len() int { return c.Snapshot().Len() }

// Get returns the node at a path, which begins with the root's as the client has it; false if there is none.
func (s Snapshot) Get(path string) (Node, bool) {
	n, ok := s.nodes.get(path)
	if !ok {
		return Node{}, false
	}
	return *n, true
}

// Children yields the nodes right below a path, by name.
func (s Snapshot) Children(path string) iter.Seq[Node] { return values(s.nodes.children(path)) }

// All yields every node, parents before their children, in the order of their paths.
func (s Snapshot) All() iter.Seq[Node] {
	return func(yield func(Node) bool) { s.nodes.all(func(n *Node) bool { return yield(*n) }) }
}

// Len is the number of nodes.
func (s Snapshot) Len() int { return s.nodes.len() }

func values(nodes iter.Seq[*Node]) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		nodes(func(n *Node) bool { return yield(*n) })
	}
}

// Stats are figures of a cache, for a program's metrics.
type Stats struct {
	Nodes      int
	Bytes      int64     // paths and data
	Unreadable int       // nodes and listings that were refused, or are too large: zk.ErrNoAuth, framework.ErrTooLarge
	Readings   int       // times that the whole tree was read: at Start, and after each loss of the connection
	Found      int       // differences that no event had reported, see WithReadAgain
	Stale      time.Time // since when the cache may be behind; zero if it is not
}

// Stats returns the figures of now. It does not block.
//
// Curator has none.
func (c *CuratorCache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes, stats := c.now.Load().nodes, c.stats
	stats.Nodes, stats.Bytes = nodes.len(), nodes.bytes()
	return stats
}

// publishLocked makes a state the newest, and wakes what waits for it.
func (c *CuratorCache) publishLocked(s *state) {
	before := c.now.Load()
	switch {
	case s.synced:
		c.stats.Stale = time.Time{}
	case before.synced:
		c.stats.Stale = time.Now()
	}
	c.now.Store(s)
	c.listeners.Push(s)
	c.wakeLocked()
}

func (c *CuratorCache) wakeLocked() {
	if c.news != nil {
		close(c.news)
		c.news = nil
	}
}

// newsLocked is closed at the next change.
func (c *CuratorCache) newsLocked() <-chan struct{} {
	if c.news == nil {
		c.news = make(chan struct{})
	}
	return c.news
}

// newer returns the newest state, or, if that was seen, a channel that is closed when there may be a newer one. Of a
// cache that is not started, the newest state is that error.
func (c *CuratorCache) newer(seen *state) (*state, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch now := c.now.Load(); {
	case now != seen:
		return now, nil
	case now.err == nil && c.follower == nil:
		return &state{err: ErrNotStarted}, nil
	default:
		return seen, c.newsLocked()
	}
}

// await blocks until done, which is called with mu held, has an answer. Errors: done's; the end of ctx.
func (c *CuratorCache) await(ctx context.Context, done func() (bool, error)) error {
	for {
		c.mu.Lock()
		finished, err := done()
		news := c.newsLocked()
		c.mu.Unlock()
		if finished || err != nil {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return retry.ContextError(ctx)
		}
	}
}
