//go:build !race

package counters_test

import (
	"testing"

	"github.com/gocurator/curator/recipes/internal/costtest"
)

func TestCostsInMemory(t *testing.T) {
	costtest.Weigh(t, "counters", nil, costtest.Costs{
		"counters.DistributedAtomicLong: add, with the server's part": func(m *costtest.Meter) func() {
			return adds(m, long(m))
		},
	})
}
