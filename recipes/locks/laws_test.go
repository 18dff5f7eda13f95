package locks_test

import (
	"testing"

	"github.com/gocurator/curator/recipes/locks/lockstest"
)

func TestRecipesKeepTheLaws(t *testing.T) {
	for _, recipe := range lockstest.Recipes() {
		t.Run(recipe.Name, func(t *testing.T) { lockstest.Run(t, lockstest.InMemory{}, recipe) })
	}
}
