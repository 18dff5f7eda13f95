//go:build !race

package discovery_test

import (
	"fmt"
	"testing"

	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/internal/costtest"
)

func TestCostsInMemory(t *testing.T) {
	costtest.Weigh(t, "discovery", costtest.Weights{
		"discovery.Registration: a registration": func(m *costtest.Meter, i int) any {
			r, err := discovery.NewServiceDiscovery(m.Client, base).Register(m.T.Context(), order(fmt.Sprint(i), 80))
			m.Do(err)
			return r
		},
		"discovery.ServiceCache: an instance": func(m *costtest.Meter, i int) (kept any) {
			if i == 0 {
				makeService(m.T, m.Server)
				c := discovery.NewServiceDiscovery(m.Client, base).NewServiceCache("orders")
				m.Do(c.Start(m.T.Context()))
				kept = c
			}
			id := fmt.Sprint(i)
			m.Do(m.Server.Create(orders+"/"+id, data(m.T, order(id, 80))))
			return kept
		},
	}, costtest.Costs{
		"discovery.ServiceCache: iterate over ten instances": func(m *costtest.Meter) func() {
			c := cached(m)
			return func() {
				for range c.Instances() {
					continue
				}
			}
		},
	})
}
