//go:build !race

package nodes_test

import (
	"fmt"
	"testing"

	"github.com/gocurator/curator/recipes/internal/costtest"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestCostsInMemory(t *testing.T) {
	costtest.Weigh(t, "nodes", costtest.Weights{
		"nodes.PersistentNode: a registration": func(m *costtest.Meter, i int) any {
			node := nodes.NewPersistentNode(m.Client, fmt.Sprintf("/services/web/%06d", i), []byte("data"))
			m.Do(node.Start(m.T.Context()))
			return node
		},
	}, costtest.Costs{
		"nodes.PersistentNode: ask whether it is there": func(m *costtest.Meter) func() {
			node := registered(m)
			return func() { node.There() }
		},
	})
}
