package discovery_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/internal/costtest"
)

// services makes a service of ten instances.
func services(m *costtest.Meter) *discovery.ServiceDiscovery {
	m.T.Helper()
	makeService(m.T, m.Server)
	for i := range 10 {
		id := fmt.Sprint(i)
		makeNode(m.T, m.Server, orders+"/"+id, data(m.T, order(id, 80)))
	}
	return discovery.NewServiceDiscovery(m.Client, base)
}

// cached is a cache of that service which has its instances.
func cached(m *costtest.Meter) *discovery.ServiceCache {
	m.T.Helper()
	services(m)
	c := follow(m.T, m.Client)
	m.Do(c.Sync(m.T.Context()))
	synctest.Wait()
	return c
}

func TestCosts(t *testing.T) {
	costtest.Count(t, "discovery", costtest.Costs{
		"discovery.Registration: register": func(m *costtest.Meter) func() {
			makeService(m.T, m.Server)
			return func() { register(m.T, m.Client, order("a", 80)) }
		},
		"discovery.Registration: update": func(m *costtest.Meter) func() {
			r := register(m.T, m.Client, order("a", 80))
			return func() { m.Do(r.Update(m.T.Context(), order("a", 81))) }
		},
		"discovery.Registration: close": func(m *costtest.Meter) func() {
			r := register(m.T, m.Client, order("a", 80))
			return func() { m.Do(r.Close()) }
		},
		"discovery.ServiceDiscovery: one instance": func(m *costtest.Meter) func() {
			d := services(m)
			return func() {
				_, err := d.Instance(m.T.Context(), "orders", "1")
				m.Do(err)
			}
		},
		"discovery.ServiceDiscovery: the ten instances of a service": func(m *costtest.Meter) func() {
			d := services(m)
			return func() {
				all, err := d.Instances(m.T.Context(), "orders")
				if err != nil || len(all) != 10 {
					m.T.Errorf("got %v, %v, want ten instances and no error", all, err)
				}
			}
		},
		"discovery.ServiceCache: start and sync; ten instances": func(m *costtest.Meter) func() {
			services(m)
			return func() { m.Do(follow(m.T, m.Client).Sync(m.T.Context())) }
		},
		"discovery.ServiceCache: iterate": func(m *costtest.Meter) func() {
			c := cached(m)
			return func() {
				for range c.Instances() {
					continue
				}
			}
		},
		"discovery.ServiceCache: an instance comes": func(m *costtest.Meter) func() {
			cached(m)
			return func() {
				makeNode(m.T, m.Server, orders+"/new", data(m.T, order("new", 80)))
				m.Settle()
			}
		},
		"discovery.ServiceCache: an instance goes": func(m *costtest.Meter) func() {
			cached(m)
			return func() {
				m.Do(m.Server.Delete(orders + "/1"))
				m.Settle()
			}
		},
		"discovery.ServiceCache: close": func(m *costtest.Meter) func() {
			c := cached(m)
			return func() { m.Do(c.Close()) }
		},
	})
}
