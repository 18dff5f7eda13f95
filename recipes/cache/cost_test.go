package cache_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/internal/costtest"
)

// followed starts a cache of a tree of ten directories, with nine nodes each, and waits until it has them.
func followed(m *costtest.Meter) *cache.CuratorCache {
	m.T.Helper()
	plant(m)
	return follow(m)
}

func plant(m *costtest.Meter) {
	m.Make("/tree")
	for dir := range 10 {
		m.Make(fmt.Sprintf("/tree/%d", dir))
		for leaf := range 9 {
			m.Make(fmt.Sprintf("/tree/%d/%d", dir, leaf))
		}
	}
}

func follow(m *costtest.Meter) *cache.CuratorCache {
	m.T.Helper()
	c := cache.NewCuratorCache(m.Client, "/tree")
	m.Do(c.Start(m.T.Context()))
	m.T.Cleanup(func() { _ = c.Close() })
	m.Do(c.Sync(m.T.Context()))
	synctest.Wait()
	return c
}

// change is what a change of the tree costs its cache.
func change(change func(server *zktest.Server) error) func(m *costtest.Meter) func() {
	return func(m *costtest.Meter) func() {
		followed(m)
		return func() {
			m.Do(change(m.Server))
			m.Settle()
		}
	}
}

func TestCosts(t *testing.T) {
	costtest.Count(t, "cache", costtest.Costs{
		"cache.CuratorCache: start and sync; 101 nodes, 11 of them with children": func(m *costtest.Meter) func() {
			plant(m)
			return func() { follow(m) }
		},
		"cache.CuratorCache: start, at a second cache of the same tree": func(m *costtest.Meter) func() {
			followed(m)
			return func() { follow(m) }
		},
		"cache.CuratorCache: sync": func(m *costtest.Meter) func() {
			c := followed(m)
			return func() { m.Do(c.Sync(m.T.Context())) }
		},
		"cache.CuratorCache: get, list, iterate": func(m *costtest.Meter) func() {
			c := followed(m)
			return func() { readAll(c) }
		},
		"cache.CuratorCache: a node is written": change(func(s *zktest.Server) error { return s.SetData("/tree/1/1", []byte("new")) }),
		"cache.CuratorCache: a node is created": change(func(s *zktest.Server) error { return s.Create("/tree/1/new", nil) }),
		"cache.CuratorCache: a node is deleted": change(func(s *zktest.Server) error { return s.Delete("/tree/1/1") }),
		"cache.CuratorCache: close": func(m *costtest.Meter) func() {
			c := followed(m)
			return func() { m.Do(c.Close()) }
		},
	})
}

func readAll(c *cache.CuratorCache) {
	c.Get("/tree/1/1")
	for range c.Children("/tree") {
		continue
	}
	for range c.All() {
		continue
	}
}
