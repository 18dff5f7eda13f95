package kratosregistry

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-kratos/kratos/v2/registry"

	"github.com/gocurator/curator/recipes/cache"
)

// GetService returns the instances of a service, by id, as the servers have them now. A service that does not exist has
// none. Errors are those of cache.CuratorCache.Start.
func (r *Registry) GetService(ctx context.Context, name string) ([]*registry.ServiceInstance, error) {
	dir, err := r.directory(name)
	if err != nil {
		return nil, err
	}
	read := cache.NewCuratorCache(r.client, dir, cache.WithDepth(1))
	if err := read.Start(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = read.Close() }()
	instances, _ := r.instances(read, dir, name)
	return instances, nil
}

// Watch returns a watcher of a service, until its Stop or the end of ctx. It does no I/O: Next waits for the servers.
func (r *Registry) Watch(ctx context.Context, name string) (registry.Watcher, error) {
	dir, err := r.directory(name)
	if err != nil {
		return nil, err
	}
	w := &watcher{
		registry: r, dir: dir, name: name, cache: cache.NewCuratorCache(r.client, dir, cache.WithDepth(1)),
		turn: make(chan struct{}, 1), news: make(chan struct{}, 1), failed: make(chan error, 1), ended: make(chan struct{}),
	}
	w.ctx, w.stop = context.WithCancelCause(ctx)
	go w.follow()
	return w, nil
}

// A watcher is safe for concurrent use.
type watcher struct {
	registry  *Registry
	dir, name string
	cache     *cache.CuratorCache
	ctx       context.Context //nolint:containedctx // Next has none
	stop      context.CancelCauseFunc
	news      chan struct{} // has one when the cache may have changed
	failed    chan error    // has one when the cache could not be filled
	ended     chan struct{} // closed when follow has returned

	turn chan struct{} // full while a Next is under way, whose are the fields below
	last []version     // what Next returned
}

// A version is one state of one node.
type version struct {
	path         string
	czxid, mzxid int64
}

// Next returns all instances of the service, by id: at first as soon as there are any, and then whenever they differ
// from those that it returned before. It blocks until then, also through an outage. Several changes may be one.
//
// Errors: the end of the watcher, with what ended it: Stop, which is context.Canceled; the context of Watch;
// framework.ErrClosed and the like if the client has ended. Before the watcher has read the instances for the first
// time, those of cache.CuratorCache.Start, such as a *framework.ConnectError; it tries again by itself, after a second.
func (w *watcher) Next() ([]*registry.ServiceInstance, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-w.ctx.Done():
		return nil, context.Cause(w.ctx)
	}
	for {
		select {
		case <-w.ctx.Done():
			return nil, context.Cause(w.ctx)
		case err := <-w.failed:
			return nil, err
		case <-w.news:
			// After an outage, what has gone comes first. It ends with Synced, which is news again. Instances that were
			// read before the cache was synced may lack some, also if it is by now.
			if !w.cache.Synced() {
				continue
			}
			instances, versions := w.registry.instances(w.cache, w.dir, w.name)
			if w.cache.Synced() && !slices.Equal(versions, w.last) {
				w.last = versions
				return instances, nil
			}
		}
	}
}

// Stop ends the watcher, and Next with context.Canceled. It never fails.
func (w *watcher) Stop() error {
	w.stop(nil)
	<-w.ended
	return nil
}

// follow fills the cache, and wakes Next when it changes.
func (w *watcher) follow() {
	defer close(w.ended)
	defer func() { _ = w.cache.Close() }()
	for {
		err := w.cache.Start(w.ctx)
		if err == nil {
			break
		}
		if w.registry.client.Err() != nil {
			w.stop(err)
			return
		}
		select {
		case w.failed <- err:
		default: // an earlier one has not been heard yet
		}
		select {
		case <-time.After(time.Second):
		case <-w.ctx.Done():
			return
		}
	}
	for _, err := range w.cache.Events(w.ctx) {
		if err != nil {
			w.stop(err)
			return
		}
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
}

// instances returns the instances of a service that a cache has, and of which versions of which nodes they are. A node
// of another service's instance, or of none, is left out.
func (r *Registry) instances(from *cache.CuratorCache, dir, name string) ([]*registry.ServiceInstance, []version) {
	var (
		instances []*registry.ServiceInstance
		versions  []version
	)
	for node := range from.Children(dir) {
		var instance registry.ServiceInstance
		if err := json.Unmarshal(node.Data, &instance); err != nil {
			r.client.Logger().Warn("kratosregistry: a node is no instance of a service", "path", node.Path, "error", err)
			continue
		}
		if instance.Name != name {
			continue
		}
		instances = append(instances, &instance)
		versions = append(versions, version{node.Path, node.Stat.Czxid, node.Stat.Mzxid})
	}
	return instances, versions
}
