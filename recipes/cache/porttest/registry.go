package porttest

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/cache"
)

// Categories are the directories below each service of a [Registry].
func Categories() []string { return []string{"configurators", "consumers", "providers", "routers"} }

// A Registry is where processes find each other's services: an ephemeral node <root>/<service>/<category>/<URL> for
// each URL, which is escaped to be a name. It has Dubbo's shape.
type Registry struct {
	client *framework.Client
	root   string
	own    *Announcer
	ctx    context.Context
	cancel context.CancelFunc

	mu            sync.Mutex
	subscriptions map[*subscription]bool
}

// A Notify gets all URLs of a category of a service, by name, each time that they have changed. One call comes at a
// time for each service.
type Notify func(service, category string, urls []string)

// NewRegistry returns a registry below root. Close ends it.
func NewRegistry(client *framework.Client, root string) *Registry {
	ctx, cancel := context.WithCancel(context.Background())
	return &Registry{
		client: client, root: root, own: NewAnnouncer(client), ctx: ctx, cancel: cancel, subscriptions: map[*subscription]bool{},
	}
}

// Register announces a URL, in this session and in later ones. It does not block.
func (r *Registry) Register(service, category, address string) {
	r.own.Announce(r.path(service, category, address), "")
}

// Unregister withdraws a URL. It does not block.
func (r *Registry) Unregister(service, category, address string) {
	r.own.Withdraw(r.path(service, category, address))
}

func (r *Registry) path(names ...string) string {
	for i, name := range names {
		names[i] = url.QueryEscape(name)
	}
	return r.root + "/" + strings.Join(names, "/")
}

// Subscribe calls notify with the lists of all categories before it returns, an empty one if there is nothing, and with
// each list that changes from then on. The service need not exist.
func (r *Registry) Subscribe(ctx context.Context, service string, notify Notify) (unsubscribe func(), err error) {
	s := &subscription{
		registry: r, service: service, notify: notify, lists: map[string][]string{}, ready: make(chan struct{}),
		cache: cache.NewCuratorCache(r.client, r.path(service), cache.WithDepth(2), cache.WithoutData()),
	}
	stop := s.cache.OnEvent(s.hear)
	if err := s.cache.Start(ctx); err != nil {
		stop()
		return nil, err
	}
	if err := r.add(s); err != nil {
		return nil, err
	}
	select {
	case <-s.ready:
		return s.close, nil
	case <-r.ctx.Done():
		err = r.ctx.Err()
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.close()
	return nil, err
}

// add has Close end a subscription, or ends it if that has been called.
func (r *Registry) add(s *subscription) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ctx.Err(); err != nil {
		_ = s.cache.Close()
		return err
	}
	r.subscriptions[s] = true
	return nil
}

// SubscribeAll subscribes to every service, also those that come later.
func (r *Registry) SubscribeAll(ctx context.Context, notify Notify) error {
	services := cache.NewCuratorCache(r.client, r.root, cache.WithDepth(1), cache.WithoutData())
	subscribed := map[string]bool{} // a service that has gone may come back: its subscription waits for that
	ready := make(chan struct{})
	initialized := sync.OnceFunc(func() { close(ready) })
	stop := services.OnEvent(func(e cache.Event) {
		switch service := nameOf(e.Node().Path); {
		case e.Kind == cache.Synced:
			initialized()
		case e.Kind != cache.Created || e.New.Path == r.root || subscribed[service]:
		case r.subscribeInListener(service, notify) == nil:
			subscribed[service] = true
		}
	})
	if err := services.Start(ctx); err != nil {
		stop()
		return err
	}
	context.AfterFunc(r.ctx, func() { _ = services.Close() })
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// subscribeInListener outlasts outages: the listener does not hear of the service again.
func (r *Registry) subscribeInListener(service string, notify Notify) error {
	for {
		_, err := r.Subscribe(r.ctx, service, notify)
		if !session.ShouldStartOver(r.ctx, err) {
			return err
		}
	}
}

// Close ends all subscriptions, and the announcing.
func (r *Registry) Close() {
	r.cancel()
	r.own.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.subscriptions {
		_ = s.cache.Close()
	}
	clear(r.subscriptions)
}

type subscription struct {
	registry *Registry
	service  string
	notify   Notify
	cache    *cache.CuratorCache
	ready    chan struct{} // closed after the first lists

	// For the listener alone.
	lists  map[string][]string
	synced bool
}

func (s *subscription) close() {
	_ = s.cache.Close()
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	delete(s.registry.subscriptions, s)
}

// hear keeps the lists as they are while the cache is Stale: a consumer goes on with the providers that it knows.
func (s *subscription) hear(e cache.Event) {
	switch first := len(s.lists) == 0; {
	case e.Kind == cache.Stale:
		s.synced = false
	case e.Kind == cache.Synced:
		s.synced = true
		s.list(Categories()...)
		if first && len(s.lists) > 0 {
			close(s.ready)
		}
	case s.synced:
		if names := strings.Split(strings.TrimPrefix(e.Node().Path, s.registry.path(s.service)+"/"), "/"); len(names) == 2 {
			s.list(names[0])
		}
	}
}

// list reports categories whose URLs have changed. All differences of one reading are in the cache when the first is
// heard of, and become one list.
func (s *subscription) list(categories ...string) {
	now := s.cache.Snapshot()
	if s.cache.Err() != nil {
		return // it was closed, which has emptied it
	}
	for _, category := range categories {
		urls := []string{}
		for n := range now.Children(s.registry.path(s.service, category)) {
			urls = append(urls, nameOf(n.Path))
		}
		slices.Sort(urls)
		if before, ok := s.lists[category]; !ok || !slices.Equal(before, urls) {
			s.lists[category] = urls
			s.notify(s.service, category, slices.Clone(urls))
		}
	}
}

// nameOf is the last name of a path, without its escapes.
func nameOf(p string) string {
	name, err := url.QueryUnescape(path.Base(p))
	if err != nil {
		return path.Base(p) // a stranger's
	}
	return name
}
