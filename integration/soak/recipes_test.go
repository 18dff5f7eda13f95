//go:build linux

package soak_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/cache/cachetest"
	"github.com/gocurator/curator/recipes/counters"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
)

// A home is what a client has from the beginning to the end.
type home struct {
	client *framework.Client
	name   string
	tree   *cache.CuratorCache
	limit  *shared.SharedCount
	node   *nodes.PersistentNode
}

func (s *soak) settleDown(c *framework.Client, i int) *home {
	s.t.Helper()
	ctx, cancel := await.Context(s.t.Context(), s.t, patience, "the beginning of a client")
	defer cancel()
	h := &home{
		client: c, name: fmt.Sprint("client", i), tree: cache.NewCuratorCache(c, cachetest.Root),
		limit: shared.NewSharedCount(c, "/soak/limit", 2),
	}
	h.node = nodes.NewPersistentNode(c, "/soak/nodes/"+h.name, nil)
	if err := errors.Join(h.tree.Start(ctx), h.limit.Start(ctx), h.node.Start(ctx)); err != nil {
		s.t.Fatal(err)
	}
	return h
}

func (h *home) close(t *testing.T) {
	if err := errors.Join(h.tree.Close(), h.limit.Close(), h.node.Close()); err != nil {
		t.Errorf("%s: close: %v", h.name, err)
	}
}

// recipes are the actors of a client that have what is no lock.
func (h *home) recipes(s *soak) []*actor {
	c := h.client
	dice := rand.New(rand.NewPCG(rand.Uint64(), 0))
	number := counters.NewDistributedAtomicLong(c, "/soak/number")
	queued := counters.NewDistributedAtomicInteger(c, "/soak/queued", counters.WithLock("/soak/queue"))
	services := discovery.NewServiceDiscovery(c, "/soak/services")
	selector := leader.NewLeaderSelector(c, "/soak/selector", leader.WithID(h.name))
	return []*actor{
		{name: "selector", step: func(ctx context.Context) error { return selector.RunOnce(ctx, work) }},
		{name: "latch", step: h.latch},
		{name: "election, observed", step: func(ctx context.Context) error {
			for _, err := range selector.Observe(ctx) {
				return err
			}
			return nil
		}},
		{name: "tree, changed", step: func(ctx context.Context) error { return cachetest.Change(ctx, c, dice) }},
		{name: "cache of a tree", step: func(ctx context.Context) error { return look(ctx, cache.NewCuratorCache(c, cachetest.Root)) }},
		{name: "cache of a directory", step: func(ctx context.Context) error {
			return look(ctx, cache.NewCuratorCache(c, "/soak", cache.WithDepth(1)))
		}},
		{name: "loops that watch", step: h.watch},
		{name: "persistent node", step: h.keep},
		{name: "persistent node, set", step: func(ctx context.Context) error { return h.node.Set(ctx, fmt.Append(nil, rand.Int())) }},
		{name: "registration", step: func(ctx context.Context) error { return register(ctx, services, h.name) }},
		{name: "number", step: func(ctx context.Context) error { return s.total.add(ctx, number) }},
		{name: "number, with a lock", step: func(ctx context.Context) error {
			_, _, err := queued.Add(ctx, 1)
			return err
		}},
		{name: "client of a moment", step: func(ctx context.Context) error { return s.visit(ctx) }},
	}
}

func (h *home) latch(ctx context.Context) error {
	latch := leader.NewLeaderLatch(h.client, "/soak/latch", leader.WithID(h.name))
	stop := latch.OnChange(func(*locks.Lease) {})
	defer stop()
	if err := latch.Start(ctx); err != nil {
		return err
	}
	_, err := latch.Await(ctx)
	return errors.Join(err, latch.Close())
}

// look starts a cache, and closes it in the loop over its events.
func look(ctx context.Context, c *cache.CuratorCache) error {
	stop := c.OnEvent(func(cache.Event) {})
	defer stop()
	if err := c.Start(ctx); err != nil {
		return err
	}
	for event, err := range c.Events(ctx) {
		if err != nil || event.Kind == cache.Synced {
			return errors.Join(err, c.Close())
		}
	}
	return c.Close()
}

// watch sees one view of two loops each, on nodes that do not change: a watch that is left does not fire.
func (h *home) watch(ctx context.Context) error {
	for _, err := range h.client.Watch(ctx, "/soak/still/child") {
		if err != nil {
			return err
		}
		break
	}
	for _, err := range h.client.WatchChildren(ctx, "/soak/still") {
		return err
	}
	return nil
}

// keep has a node for a moment, of a name that others have not.
func (h *home) keep(ctx context.Context) error {
	mode := []framework.CreateMode{framework.Ephemeral, framework.EphemeralSequential}[rand.IntN(2)]
	node := nodes.NewPersistentNode(h.client, fmt.Sprintf("/soak/nodes/%s-%d", h.name, rand.Int()), nil, nodes.WithMode(mode))
	if err := node.Start(ctx); err != nil {
		return err
	}
	return errors.Join(node.Set(ctx, []byte("set")), node.Close())
}

func register(ctx context.Context, services *discovery.ServiceDiscovery, address string) error {
	registration, err := services.Register(ctx, discovery.ServiceInstance{Name: "service", Address: address})
	if err != nil {
		return err
	}
	all := services.NewServiceCache("service")
	if err = all.Start(ctx); err == nil {
		err = all.Close()
	}
	_, readErr := services.Instances(ctx, "service")
	return errors.Join(err, readErr, registration.Close())
}

// visit is a client that connects, holds a lock, and leaves.
func (s *soak) visit(ctx context.Context) error {
	client := s.connect()
	if client == nil {
		return errors.New("no client")
	}
	err := locks.Do(ctx, locks.NewInterProcessMutex(client, "/soak/visited"), work)
	return errors.Join(err, client.Close())
}

// A total knows what a number must be.
type total struct{ counted, unknown atomic.Int64 }

func (n *total) add(ctx context.Context, number *counters.DistributedAtomicLong) error {
	_, _, err := number.Add(ctx, 1)
	switch {
	case err == nil:
		n.counted.Add(1)
	case errors.Is(err, counters.ErrUnknown):
		n.unknown.Add(1)
	}
	return err
}

// check compares the number with what was counted, and says what was compared.
func (n *total) check(s *soak) string {
	number := counters.NewDistributedAtomicLong(s.clients[0], "/soak/number")
	got, err := number.Get(s.t.Context())
	least, most := n.counted.Load(), n.counted.Load()+n.unknown.Load()
	if err != nil || got < least || got > most {
		s.t.Errorf("the number: got %d, %v, want %d to %d", got, err, least, most)
	}
	return fmt.Sprintf("the number is %d, %d to %d were counted", got, least, most)
}
