//go:build !race

package leader_test

import (
	"fmt"
	"testing"

	"github.com/gocurator/curator/recipes/internal/costtest"
	"github.com/gocurator/curator/recipes/leader"
)

func TestCostsInMemory(t *testing.T) {
	costtest.Weigh(t, "leader", costtest.Weights{
		"leader.LeaderLatch: a latch that leads": func(m *costtest.Meter, i int) any {
			l := leader.NewLeaderLatch(m.Client, fmt.Sprintf("/leaders/%06d", i))
			m.Do(l.Start(m.T.Context()))
			elected(m, l)
			return l
		},
		"leader.LeaderSelector: a term": func(m *costtest.Meter, i int) any {
			term, err := leader.NewLeaderSelector(m.Client, fmt.Sprintf("/leaders/%06d", i)).Campaign(m.T.Context())
			m.Do(err)
			return term
		},
	}, costtest.Costs{
		"leader.LeaderLatch: ask whether it leads": func(m *costtest.Meter) func() {
			l := started(m)
			elected(m, l)
			return func() { l.HasLeadership() }
		},
	})
}
