//go:build unix

package integration_test

import (
	"testing"

	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

func TestRecipesKeepTheLawsOnARealServer(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	for _, recipe := range lockstest.Recipes() {
		t.Run(recipe.Name, func(t *testing.T) { lockstest.Run(t, standalone{server}, recipe) })
	}
}
