package discovery

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"path"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/ranked"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/cache"
)

// A ServiceCache has the instances of one service, and follows the servers. It keeps what it has decoded, for all
// readers and subscribers. What it promises is what a [cache.CuratorCache] promises.
//
// Its methods are safe for concurrent use.
//
// Curator: ServiceCache, ServiceProvider.
type ServiceCache struct {
	client *framework.Client
	path   string
	nodes  *cache.CuratorCache
	err    error // misuse of the constructors

	mu      ranked.Mutex[ranked.Recipe, ServiceCache]
	decoded map[*zk.Stat]decoded // each reading of a node has a Stat of its own
	bad     map[string]*zk.Stat  // readings that could not be decoded, by their paths
	trouble session.Trouble
}

type decoded struct {
	instance ServiceInstance
	err      error
}

// NewServiceCache returns a cache of the instances of a service. It does no I/O. The service need not exist. Start
// reports what is wrong with the arguments, and with those of [NewServiceDiscovery].
//
// Curator: ServiceDiscovery.serviceCacheBuilder().
func (d *ServiceDiscovery) NewServiceCache(name string) *ServiceCache {
	return &ServiceCache{
		client: d.client, path: d.path(name), nodes: cache.NewCuratorCache(d.client, d.path(name), cache.WithDepth(1)),
		err: d.misuse(partProblem("name", name)), decoded: map[*zk.Stat]decoded{}, bad: map[string]*zk.Stat{},
	}
}

// Start fills the cache, and has it follow the servers until Close or the end of the client. It blocks until the cache
// has every instance; a service that does not exist has none, until it does. ctx bounds this wait, and nothing else.
//
// Errors: what is wrong with the arguments of the constructors, all at once; those of [cache.CuratorCache.Start]. After
// an error nothing remains at the servers, and Start may be called again.
//
// Curator: ServiceCache.start(), which makes the service's node if there is none.
func (c *ServiceCache) Start(ctx context.Context) error {
	if c.err != nil {
		return c.err
	}
	return c.nodes.Start(ctx)
}

// Close ends the following, and the loops and functions that hear of events, and empties the cache. It does not block.
// Its errors are those of [cache.CuratorCache.Close].
//
// Curator: ServiceCache.close().
func (c *ServiceCache) Close() error {
	err := c.nodes.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.decoded)
	clear(c.bad)
	c.trouble.Over()
	return err
}

// Err is [cache.CuratorCache.Err]. A node that cannot be decoded is no such error, see Bad.
//
// Curator has none.
func (c *ServiceCache) Err() error { return c.nodes.Err() }

// Synced reports whether the cache has every instance, and hears of each change, as [cache.CuratorCache.Synced] does.
//
// Curator has none.
func (c *ServiceCache) Synced() bool { return c.nodes.Synced() }

// Sync blocks until the cache has every change that was committed before the call. Its errors are those of
// [cache.CuratorCache.Sync].
//
// Curator has none.
func (c *ServiceCache) Sync(ctx context.Context) error { return c.nodes.Sync(ctx) }

// Stats returns figures of now, of the nodes of the service and its own. It does not block.
//
// Curator has none.
func (c *ServiceCache) Stats() cache.Stats { return c.nodes.Stats() }

// Instances yields the instances of one moment, by the names of their nodes, also those that are not enabled. It asks
// no server, and holds no lock while the loop runs.
//
// Curator: ServiceCache.getInstances(); ServiceProvider.getAllInstances(), with IsEnabled.
func (c *ServiceCache) Instances() iter.Seq[ServiceInstance] {
	return func(yield func(ServiceInstance) bool) {
		c.judge()
		for node := range c.nodes.Children(c.path) {
			if d := c.decode(node); d.err == nil && !yield(d.instance) {
				return
			}
		}
	}
}

// Bad returns the nodes of one moment that cannot be decoded, by their names, and why: an [ErrBadInstance]. Nodes that
// may not be read are not among them; Stats counts those.
//
// The client's log says so once when a reading finds the first, and once when there are none any more.
//
// Curator logs them.
func (c *ServiceCache) Bad() map[string]error {
	bad := map[string]error{}
	for node := range c.nodes.Children(c.path) {
		if err := c.decode(node).err; err != nil {
			bad[path.Base(node.Path)] = err
		}
	}
	return bad
}

// decode decodes a node, or has done so before.
func (c *ServiceCache) decode(node cache.Node) decoded {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, known := c.decoded[node.Stat]
	if !known {
		d.instance, d.err = decode(node.Path, node.Data, nil)
		if len(c.decoded) > 2*c.nodes.Len() { // most are of nodes that have changed or gone
			clear(c.decoded)
		}
		c.decoded[node.Stat] = d
		if now, is := c.nodes.Get(node.Path); d.err != nil && is && now.Stat == node.Stat {
			c.bad[node.Path] = node.Stat
		}
	}
	c.judgeLocked(d.err)
	return d
}

func (c *ServiceCache) judge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.judgeLocked(nil)
}

// judgeLocked logs when there begin to be nodes that cannot be decoded, and when there are none any more. err is why
// one cannot be decoded.
func (c *ServiceCache) judgeLocked(err error) {
	if len(c.bad) == 0 {
		return
	}
	maps.DeleteFunc(c.bad, func(path string, read *zk.Stat) bool {
		now, ok := c.nodes.Get(path)
		return !ok || now.Stat.Czxid != read.Czxid || now.Stat.Mzxid != read.Mzxid
	})
	switch {
	case len(c.bad) == 0:
		c.trouble.Over()
	case err != nil:
		c.trouble.Note(c.client.Logger(), "discovery: instances cannot be decoded, and are left out", c.path, err)
	}
}

// An Event is a difference between two versions of a [ServiceCache], or says whether it is up to date.
//
// Curator: ServiceCacheListener.cacheChanged(), which does not say what.
type Event struct {
	Kind cache.Kind
	Node string          // the name of the instance's node, which no other instance of the service has
	Old  ServiceInstance // zero but for Changed and Deleted
	New  ServiceInstance // zero but for Created and Changed
}

// Events yields Created for each instance that the cache has, Synced once it has every one, and then every difference,
// as [cache.CuratorCache.Events] does. The loop runs on the caller's goroutine, and blocks between two events.
//
// An instance whose node was deleted and created again by one session, as Java does when it reconnects, is Changed if
// the cache has read both at once. If it has read that the node was gone, as it mostly has if it was connected, that is
// Deleted and Created. So it always is if another session has created the node again. Nodes of no session are treated
// as those of one.
//
// An instance whose node cannot be decoded any more is Deleted, and Created once it can.
//
// Errors, each with no event, and the last of the loop: those of [cache.CuratorCache.Events].
//
// Curator: ServiceCache.addListener().
func (c *ServiceCache) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for of, err := range c.nodes.Events(ctx) {
			if event, is := c.event(of); is && !yield(event, err) { // an error comes with an empty event
				return
			}
		}
	}
}

// OnEvent calls fn with the events of [ServiceCache.Events], one call at a time, on a goroutine of the subscription's
// own. fn may block, and use the cache; everything else is as [cache.CuratorCache.OnEvent] says. OnEvent panics if fn
// is nil.
//
// Curator: ServiceCache.addListener().
func (c *ServiceCache) OnEvent(fn func(Event)) (stop func()) {
	if fn == nil {
		panic("discovery: OnEvent: the function is nil")
	}
	return c.nodes.OnEvent(func(of cache.Event) {
		if event, is := c.event(of); is {
			fn(event)
		}
	})
}

// event makes an event out of one of a node, and reports whether there is one. Both events of a node that was made
// again have both nodes: if one session has made them, the second event counts for both. If both nodes are one, only
// that of the service was made again.
func (c *ServiceCache) event(of cache.Event) (Event, bool) {
	node, before, after := of.Node().Path, of.Old, of.New
	same := before.Stat != nil && after.Stat != nil && before.Stat.EphemeralOwner == after.Stat.EphemeralOwner
	one := same && before.Stat.Mzxid == after.Stat.Mzxid && bytes.Equal(before.Data, after.Data)
	switch {
	case node == "": // Synced or Stale
		return Event{Kind: of.Kind}, true
	case node == c.path || one || same && of.Kind == cache.Deleted:
		return Event{}, false
	case of.Kind == cache.Deleted:
		after = cache.Node{}
	case !same:
		before = cache.Node{}
	}
	old, now := c.decode(before), c.decode(after) // the zero node cannot be decoded
	kinds := map[[2]bool]cache.Kind{{false, true}: cache.Created, {true, true}: cache.Changed, {true, false}: cache.Deleted}
	kind, is := kinds[[2]bool{old.err == nil, now.err == nil}]
	return Event{Kind: kind, Node: path.Base(node), Old: old.instance, New: now.instance}, is
}
