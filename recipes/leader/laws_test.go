package leader_test

import (
	"testing"

	"github.com/gocurator/curator/recipes/internal/sampletest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/leader/leadertest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// Terms of office keep the laws of leases, in both queues.
func TestTermsKeepTheLaws(t *testing.T) {
	recipes := []lockstest.Recipe{
		{
			Name: "LeaderSelector", New: leader.NewSelectorLock, Capacity: 1, Reentrant: true, Marker: "lock-",
			Foreign: []string{"_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-lock-", "0123456789abcdef0123456789abcdef__lock__"},
		},
		leadertest.LatchQueue(),
	}
	for _, i := range sampletest.New(t).Part(len(recipes), 2) {
		recipe := recipes[i]
		t.Run(recipe.Name, func(t *testing.T) { lockstest.Run(t, lockstest.InMemory{}, recipe) })
	}
}

func TestElectionsKeepTheLaws(t *testing.T) {
	for _, kind := range leadertest.Kinds() {
		t.Run(string(kind), func(t *testing.T) { leadertest.Run(t, lockstest.InMemory{}, kind) })
	}
}
