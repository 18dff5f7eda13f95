package goframeregistry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
)

// Watch returns a watcher of the services of a prefix, until its Close or the end of the client; not of ctx, which is
// that of a request in GoFrame's client. It does no I/O: Proceed waits for the servers.
func (r *Registry[W, In, S, M]) Watch(ctx context.Context, prefix string) (watcher W, err error) {
	w := &watch[S]{
		client: r.client, cache: r.newCache(prefix), turn: make(chan struct{}, 1), news: make(chan struct{}, 1), failed: make(chan error, 1),
		ended: make(chan struct{}),
	}
	w.services = func() ([]S, []version) { return r.services(w.cache, prefix) }
	watcher, ok := any(w).(W)
	if !ok {
		return watcher, fmt.Errorf("goframeregistry: the parameter W is %T, want gsvc.Watcher", watcher)
	}
	w.ctx, w.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	go w.follow()
	return watcher, nil
}

// A watch is a gsvc.Watcher. It is safe for concurrent use.
type watch[S any] struct {
	client   *framework.Client
	cache    *cache.CuratorCache
	services func() ([]S, []version) // that the cache has
	ctx      context.Context         //nolint:containedctx // Proceed has none
	stop     context.CancelCauseFunc
	news     chan struct{} // has one when the cache may have changed
	failed   chan error    // has one when the cache could not be filled
	ended    chan struct{} // closed when follow has returned

	turn chan struct{} // full while a Proceed is under way, whose are the fields below
	last []version     // what Proceed returned
}

// Proceed returns all services of the prefix, by path: at first as soon as there are any, and then whenever they differ
// from those that it returned before. It blocks until then, also through an outage. Several changes may be one.
//
// Errors: context.Canceled after Close; framework.ErrClosed and the like if the client has ended. Before the watcher
// has read the services for the first time, those of cache.CuratorCache.Start, such as a *framework.ConnectError; it
// tries again by itself, after a second.
func (w *watch[S]) Proceed() ([]S, error) {
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
			// After an outage, what has gone comes first. It ends with Synced, which is news again. Services that were
			// read before the cache was synced may lack some, also if it is by now.
			if !w.cache.Synced() {
				continue
			}
			services, versions := w.services()
			if w.cache.Synced() && !slices.Equal(versions, w.last) {
				w.last = versions
				return services, nil
			}
		}
	}
}

// Close ends the watcher, and Proceed with context.Canceled. It never fails.
func (w *watch[S]) Close() error {
	w.stop(nil)
	<-w.ended
	return nil
}

// follow fills the cache, and wakes Proceed when it changes.
func (w *watch[S]) follow() {
	defer close(w.ended)
	defer func() { _ = w.cache.Close() }()
	for {
		err := w.cache.Start(w.ctx)
		if err == nil {
			break
		}
		if w.client.Err() != nil {
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
