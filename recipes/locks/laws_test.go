package locks_test

import (
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

func TestRecipesKeepTheLaws(t *testing.T) {
	for _, recipe := range lockstest.Recipes() {
		t.Run(recipe.Name, func(t *testing.T) { lockstest.Run(t, lockstest.InMemory{}, recipe) })
	}
}

// Tokens grow from node to node: no law has two holds of one client that follow each other while the second waits. What holds of the
// others, local hand-over has tests of its own for.
func TestRecipesKeepTheLawsWithLocalHandover(t *testing.T) {
	for _, recipe := range lockstest.Recipes() {
		if recipe.Name != "InterProcessMutex" && recipe.Name != "WriteLock" {
			continue
		}
		plain := recipe.New
		recipe.New = func(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
			return plain(client, path, append(opts, locks.WithLocalHandover(3))...)
		}
		t.Run(recipe.Name, func(t *testing.T) { lockstest.Run(t, lockstest.InMemory{}, recipe) })
	}
}
