package porttest

import (
	"context"
	"maps"
	"path"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/cache"
)

// An Inventory is what hosts have: a node <root>/announcements/<host> for each host, and <root>/inventory/<host>/<item>
// for each thing that the host has. It has the shape of Druid's: a cache of the hosts, and one of the things of each
// host, for as long as the host is announced.
type Inventory struct {
	client *framework.Client
	root   string
	outer  *cache.CuratorCache
	ctx    context.Context // ends the starts of inner caches
	cancel context.CancelFunc
	ready  chan struct{} // closed once all hosts are known, with all that they have

	mu    sync.Mutex
	hosts map[string]*host
}

// A host has what its inner cache has.
type host struct {
	inner  *cache.CuratorCache
	filled chan struct{} // closed when items has everything that was there

	// Guarded by Inventory.mu.
	info  string
	items map[string]string
}

// NewInventory returns an inventory below root. It does no I/O.
func NewInventory(client *framework.Client, root string) *Inventory {
	ctx, cancel := context.WithCancel(context.Background())
	v := &Inventory{
		client: client, root: root, ctx: ctx, cancel: cancel, ready: make(chan struct{}), hosts: map[string]*host{},
		outer: cache.NewCuratorCache(client, root+"/announcements", cache.WithDepth(1)),
	}
	v.outer.OnEvent(v.hear(sync.OnceFunc(func() { close(v.ready) })))
	return v
}

// Start blocks until all hosts are known, with all that each has.
func (v *Inventory) Start(ctx context.Context) error {
	if err := v.outer.Start(ctx); err != nil {
		return err
	}
	select {
	case <-v.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends all caches.
func (v *Inventory) Close() {
	v.cancel()
	_ = v.outer.Close()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, h := range v.hosts {
		_ = h.inner.Close()
	}
	clear(v.hosts)
}

// Hosts returns the things of each host, by their names, and what the host says of itself under the name "".
func (v *Inventory) Hosts() map[string]map[string]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	hosts := map[string]map[string]string{}
	for name, h := range v.hosts {
		hosts[name] = maps.Clone(h.items)
		hosts[name][""] = h.info
	}
	return hosts
}

// hear is the listener of the outer cache. It waits for the inner cache of each new host, so that the outer Synced
// comes after all of these are full.
func (v *Inventory) hear(initialized func()) func(e cache.Event) {
	return func(e cache.Event) {
		name := path.Base(e.Node().Path)
		switch {
		case e.Kind == cache.Synced:
			initialized()
		case e.Kind == cache.Stale || e.Node().Path == v.root+"/announcements":
		case e.Kind == cache.Created:
			v.open(name, string(e.New.Data))
		case e.Kind == cache.Changed:
			v.describe(name, string(e.New.Data))
		case e.Kind == cache.Deleted:
			v.close(name)
		}
	}
}

// open shows a host once its inner cache is full, and its items are.
func (v *Inventory) open(name, info string) {
	h := &host{info: info, items: map[string]string{}, filled: make(chan struct{})}
	dir := v.root + "/inventory/" + name
	for {
		h.inner = cache.NewCuratorCache(v.client, dir, cache.WithDepth(1))
		h.inner.OnEvent(v.hearItem(h, dir, sync.OnceFunc(func() { close(h.filled) })))
		err := h.inner.Start(v.ctx)
		if err == nil {
			break
		}
		if !session.ShouldStartOver(v.ctx, err) {
			return
		}
	}
	select {
	case <-h.filled:
	case <-v.ctx.Done():
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ctx.Err() != nil {
		_ = h.inner.Close()
		return
	}
	v.hosts[name] = h
}

func (v *Inventory) describe(name, info string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if h := v.hosts[name]; h != nil {
		h.info = info
	}
}

func (v *Inventory) close(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if h := v.hosts[name]; h != nil {
		_ = h.inner.Close()
		delete(v.hosts, name)
	}
}

// hearItem is the listener of an inner cache.
func (v *Inventory) hearItem(h *host, dir string, filled func()) func(e cache.Event) {
	return func(e cache.Event) {
		v.mu.Lock()
		defer v.mu.Unlock()
		switch item := path.Base(e.Node().Path); {
		case e.Kind == cache.Synced:
			filled()
		case e.Kind == cache.Stale || e.Node().Path == dir:
		case e.Kind == cache.Deleted:
			delete(h.items, item)
		default:
			h.items[item] = string(e.New.Data)
		}
	}
}
