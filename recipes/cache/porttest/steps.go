package porttest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gocurator/curator/recipes/cache"
)

// startRegistry starts a process of the registry. It registers and unregisters URLs of its own, and removes directories
// that are empty. Every second process subscribes to all services, the others to a few, which need not exist.
func startRegistry(ctx context.Context, w *world, p *process) {
	r := NewRegistry(p.Client, w.root)
	var mu sync.Mutex
	got := map[string]string{}
	notify := func(service, category string, urls []string) {
		mu.Lock()
		defer mu.Unlock()
		key, text := service+" "+category, strings.Join(urls, " ")
		if before, ok := got[key]; ok && before == text {
			w.t.Errorf("seed %d: %s: %s were reported again: %q", w.Seed, p.name, key, urls)
		}
		got[key] = text
	}
	service := func(n int) string { return fmt.Sprintf("com.example/Service%d", n) }
	all := p.number%2 == 0
	few := map[string]bool{service(1): true, service(w.Services - 1): true, service(w.Services + 1): true}
	var err error
	if all {
		err = r.SubscribeAll(ctx, notify)
	}
	for name := range few {
		if err == nil && !all {
			_, err = r.Subscribe(ctx, name, notify)
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for n := range w.Services {
		if p.number == 0 {
			r.Register(service(n), "providers", "first://"+service(n))
		}
	}
	p.announcer, p.close = r.own, r.Close
	p.caches = func() []*cache.CuratorCache {
		r.mu.Lock()
		defer r.mu.Unlock()
		var caches []*cache.CuratorCache
		for s := range r.subscriptions {
			caches = append(caches, s.cache)
		}
		return caches
	}
	p.step = func(ctx context.Context) {
		name := service(p.dice.IntN(w.Services + 10))
		if p.dice.IntN(3) > 0 {
			name = service(p.dice.IntN(3))
		}
		category := Categories()[p.dice.IntN(len(Categories()))]
		address := fmt.Sprintf("dubbo://%s:%d/?side=provider&n=100%%", p.name, p.dice.IntN(5))
		switch p.dice.IntN(5) {
		case 0:
			r.Unregister(name, category, address)
		case 1: // one that others use is not empty
			_ = p.Delete(ctx, r.path(name, category), -1)
			_ = p.Delete(ctx, r.path(name), -1)
		default:
			r.Register(name, category, address)
		}
	}
	p.has = func() map[string]string {
		mu.Lock()
		defer mu.Unlock()
		lists, known := map[string]string{}, map[string]int{}
		for key, text := range got {
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
		for name := range few {
			if known[name] == 0 && !all {
				lists[name] = "no lists"
			}
		}
		return lists
	}
	p.wants = func(tree map[string]string) map[string]string {
		lists := map[string]string{}
		for _, node := range slices.Sorted(maps.Keys(tree)) {
			names := strings.Split(strings.TrimPrefix(node, w.root+"/"), "/")
			if len(names) == 3 && (all || few[nameOf(names[0])]) {
				key := nameOf(names[0]) + " " + names[1]
				lists[key] = strings.TrimSpace(lists[key] + " " + nameOf(names[2]))
			}
		}
		return lists
	}
}

// startInventory starts a process of the inventory, which is a host too, now and then.
func startInventory(ctx context.Context, w *world, p *process) {
	v, a := NewInventory(p.Client, w.root), NewAnnouncer(p.Client)
	if err := v.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
	p.announcer = a
	p.close = func() {
		v.Close()
		a.Close()
	}
	p.caches = func() []*cache.CuratorCache {
		v.mu.Lock()
		defer v.mu.Unlock()
		caches := []*cache.CuratorCache{v.outer}
		for _, h := range v.hosts {
			caches = append(caches, h.inner)
		}
		return caches
	}
	p.step = func(context.Context) {
		host := fmt.Sprintf("host%d-%d", p.number, p.dice.IntN(3))
		item, data := fmt.Sprintf("%s/inventory/%s/item%d", w.root, host, p.dice.IntN(5)), fmt.Sprint(p.dice.IntN(100))
		switch p.dice.IntN(8) {
		case 0:
			a.Withdraw(w.root + "/announcements/" + host)
		case 1, 2:
			a.Announce(w.root+"/announcements/"+host, data)
		case 3:
			a.Withdraw(item)
		default:
			a.Announce(item, data)
		}
	}
	p.has = func() map[string]string {
		hosts := map[string]string{}
		for name, items := range v.Hosts() {
			hosts[name] = fmt.Sprint(items)
		}
		return hosts
	}
	p.wants = func(tree map[string]string) map[string]string {
		hosts := map[string]string{}
		for node, data := range tree {
			if path.Dir(node) != w.root+"/announcements" {
				continue
			}
			items := map[string]string{"": data}
			for item, data := range tree {
				if path.Dir(item) == w.root+"/inventory/"+path.Base(node) {
					items[path.Base(item)] = data
				}
			}
			hosts[path.Base(node)] = fmt.Sprint(items)
		}
		return hosts
	}
}

// stores are those of all processes, in the order of their start.
type stores struct {
	mu  sync.Mutex
	all []*TokenStore
}

// start starts a process that issues tokens, renews and cancels those of all processes, and makes keys. Tokens with odd
// numbers are not cancelled: once one is issued, every process must find it.
func (all *stores) start(ctx context.Context, w *world, p *process) {
	s := NewTokenStore(p.Client, w.root)
	if err := s.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
	all.mu.Lock()
	all.all = append(all.all, s)
	all.mu.Unlock()
	other := func() *TokenStore {
		all.mu.Lock()
		defer all.mu.Unlock()
		return all.all[p.dice.IntN(len(all.all))]
	}
	p.close = s.Close
	p.caches = func() []*cache.CuratorCache { return []*cache.CuratorCache{s.cache} }
	p.step = func(ctx context.Context) {
		ids := slices.SortedFunc(maps.Keys(s.Tokens()), func(a, b Identity) int { return a.Number - b.Number })
		switch p.dice.IntN(8) {
		case 0:
			_ = s.RollKey(ctx) // an error leaves it open what the servers have, here and below
		case 1:
			_, _, _ = p.Create(ctx, fmt.Sprintf("%s/tokens/other%d", w.root, p.dice.IntN(3)), []byte("{}"))
		case 2:
			_ = p.Delete(ctx, fmt.Sprintf("%s/tokens/other%d", w.root, p.dice.IntN(3)), -1)
		case 3, 4:
			id, err := s.Issue(ctx, p.name)
			if err != nil || id.Number%2 == 0 {
				return
			}
			if _, found, err := other().Find(ctx, id); err == nil && !found {
				w.t.Errorf("seed %d: another process does not find token %v of %s", w.Seed, id, p.name)
			}
		default:
			if len(ids) == 0 {
				return
			}
			id := ids[p.dice.IntN(len(ids))]
			if id.Number%2 == 0 && p.dice.IntN(2) == 0 {
				_ = s.Cancel(ctx, id)
			} else {
				_ = s.Renew(ctx, id)
			}
		}
	}
	p.has = func() map[string]string {
		all := map[string]string{}
		for id, token := range s.Tokens() {
			all[fmt.Sprint(id)] = fmt.Sprint(token)
		}
		for number, key := range s.Keys() {
			all[fmt.Sprint(number)] = key
		}
		return all
	}
	p.wants = func(tree map[string]string) map[string]string {
		all := map[string]string{}
		for node, data := range tree {
			switch dir := path.Dir(node); dir {
			case w.root + "/tokens":
				if id, token, err := decode([]byte(data)); err == nil {
					all[fmt.Sprint(id)] = fmt.Sprint(token)
				}
			case w.root + "/keys":
				all[strings.TrimPrefix(path.Base(node), "key_")] = data
			}
		}
		return all
	}
}
