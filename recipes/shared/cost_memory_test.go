//go:build !race

package shared_test

import (
	"fmt"
	"testing"

	"github.com/gocurator/curator/recipes/internal/costtest"
	"github.com/gocurator/curator/recipes/shared"
)

func TestCostsInMemory(t *testing.T) {
	costtest.Weigh(t, "shared", costtest.Weights{
		"shared.SharedCount: a count": func(m *costtest.Meter, i int) any {
			count := shared.NewSharedCount(m.Client, fmt.Sprintf("/limits/%06d", i), 1)
			m.Do(count.Start(m.T.Context()))
			return count
		},
	}, costtest.Costs{
		"shared.SharedCount: get": func(m *costtest.Meter) func() {
			count := counted(m)
			return func() { count.Count() }
		},
	})
}
