package porttest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gocurator/curator/recipes/cache"
)

// A registryProcess registers and unregisters URLs of its own, and removes directories that are empty. Every second
// process subscribes to all services, the others to a few, which need not exist.
type registryProcess struct {
	w        *world
	p        *process
	registry *Registry
	all      bool            // subscribes to all services
	few      map[string]bool // the services to subscribe to if all is not set

	mu  sync.Mutex
	got map[string]string // the URLs last reported, by service and category
}

func startRegistry(ctx context.Context, w *world, p *process) program {
	r := &registryProcess{
		w: w, p: p, registry: NewRegistry(p.Client, w.root), all: p.number%2 == 0, got: map[string]string{},
		few: map[string]bool{serviceName(1): true, serviceName(w.Services - 1): true, serviceName(w.Services + 1): true},
	}
	if err := r.subscribe(ctx); err != nil {
		w.t.Fatal(err)
	}
	for n := range w.Services {
		if p.number == 0 {
			r.registry.Register(serviceName(n), "providers", "first://"+serviceName(n))
		}
	}
	p.announcer = r.registry.own
	return r
}

func serviceName(n int) string { return fmt.Sprintf("com.example/Service%d", n) }

func (r *registryProcess) subscribe(ctx context.Context) error {
	if r.all {
		return r.registry.SubscribeAll(ctx, r.notify)
	}
	for name := range r.few {
		if _, err := r.registry.Subscribe(ctx, name, r.notify); err != nil {
			return err
		}
	}
	return nil
}

func (r *registryProcess) notify(service, category string, urls []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, text := service+" "+category, strings.Join(urls, " ")
	if before, ok := r.got[key]; ok && before == text {
		r.w.t.Errorf("seed %d: %s: %s were reported again: %q", r.w.Seed, r.p.name, key, urls)
	}
	r.got[key] = text
}

func (r *registryProcess) step(ctx context.Context) {
	dice := r.p.dice
	name := serviceName(dice.IntN(r.w.Services + 10))
	if dice.IntN(3) > 0 {
		name = serviceName(dice.IntN(3))
	}
	category := Categories()[dice.IntN(len(Categories()))]
	address := fmt.Sprintf("dubbo://%s:%d/?side=provider&n=100%%", r.p.name, dice.IntN(5))
	switch dice.IntN(5) {
	case 0:
		r.registry.Unregister(name, category, address)
	case 1: // one that others use is not empty
		_ = r.p.Delete(ctx, r.registry.path(name, category), -1)
		_ = r.p.Delete(ctx, r.registry.path(name), -1)
	default:
		r.registry.Register(name, category, address)
	}
}

// has returns the lists that are not empty. A service that lacks lists has an entry under its name that says so.
func (r *registryProcess) has() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lists, known := map[string]string{}, map[string]int{}
	for key, text := range r.got {
		known[strings.Fields(key)[0]]++
		if text != "" {
			lists[key] = text
		}
	}
	for name, n := range known {
		if n != len(Categories()) {
			lists[name] = fmt.Sprintf("%d lists", n)
		}
	}
	for name := range r.few {
		if known[name] == 0 && !r.all {
			lists[name] = "no lists"
		}
	}
	return lists
}

func (r *registryProcess) wants(tree map[string]string) map[string]string {
	lists := map[string]string{}
	for _, node := range slices.Sorted(maps.Keys(tree)) {
		names := strings.Split(strings.TrimPrefix(node, r.w.root+"/"), "/")
		if len(names) == 3 && (r.all || r.few[nameOf(names[0])]) {
			key := nameOf(names[0]) + " " + names[1]
			lists[key] = strings.TrimSpace(lists[key] + " " + nameOf(names[2]))
		}
	}
	return lists
}

func (r *registryProcess) caches() []*cache.CuratorCache {
	r.registry.mu.Lock()
	defer r.registry.mu.Unlock()
	var caches []*cache.CuratorCache
	for s := range r.registry.subscriptions {
		caches = append(caches, s.cache)
	}
	return caches
}

func (r *registryProcess) close() { r.registry.Close() }
