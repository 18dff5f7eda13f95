package locks_test

import (
	"testing"

	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// The longest tick that a session of this timeout can have: followers report to their leader as seldom as is allowed.
func TestTheMutexKeepsTheLawsWithLongTicks(t *testing.T) {
	lockstest.Run(t, lockstest.InMemory{Tick: lockstest.MemorySessionTimeout / 2}, lockstest.Recipes()[0])
}

func TestRecipesKeepTheLaws(t *testing.T) {
	for _, recipe := range lockstest.Recipes() {
		t.Run(recipe.Name, func(t *testing.T) { lockstest.Run(t, lockstest.InMemory{}, recipe) })
	}
}
