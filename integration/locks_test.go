//go:build unix

package integration_test

import (
	"testing"

	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// Each recipe has a server of its own: most of the time its laws wait for sessions to end.
func TestRecipesKeepTheLawsOnARealServer(t *testing.T) {
	for _, recipe := range lockstest.Recipes() {
		t.Run(recipe.Name, func(t *testing.T) {
			t.Parallel()
			server := zookeeper.Start(t, zookeeper.Config{SuperPassword: superPassword})
			lockstest.Run(t, standalone{server}, recipe)
		})
	}
}
