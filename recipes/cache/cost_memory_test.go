//go:build !race

package cache_test

import (
	"fmt"
	"testing"

	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/internal/costtest"
)

func TestCostsInMemory(t *testing.T) {
	costtest.Weigh(t, "cache", costtest.Weights{
		"cache.CuratorCache: a node with 100 bytes": func(m *costtest.Meter, i int) (kept any) {
			if i == 0 {
				m.Make("/tree")
				c := cache.NewCuratorCache(m.Client, "/tree")
				m.Do(c.Start(m.T.Context()))
				kept = c
			}
			m.Do(m.Server.Create(fmt.Sprintf("/tree/%06d", i), make([]byte, 100)))
			return kept
		},
		"cache.CuratorCache: a cache of one node": func(m *costtest.Meter, i int) any {
			path := fmt.Sprintf("/%06d", i)
			m.Make(path)
			c := cache.NewCuratorCache(m.Client, path)
			m.Do(c.Start(m.T.Context()))
			return c
		},
	}, costtest.Costs{
		"cache.CuratorCache: get": func(m *costtest.Meter) func() {
			c := followed(m)
			return func() { c.Get("/tree/1/1") }
		},
		"cache.CuratorCache: list ten children": func(m *costtest.Meter) func() {
			c := followed(m)
			return func() {
				for range c.Children("/tree") {
					continue
				}
			}
		},
		"cache.CuratorCache: iterate over 101 nodes": func(m *costtest.Meter) func() {
			c := followed(m)
			return func() {
				for range c.All() {
					continue
				}
			}
		},
	})
}
