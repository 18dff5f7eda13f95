//go:build unix

package integration_test

import (
	"testing"

	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/leader/leadertest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// Each election has a server of its own: most of the time its laws wait for sessions to end.
func TestElectionsKeepTheLawsOnARealServer(t *testing.T) {
	for _, kind := range leadertest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			leadertest.Run(t, standalone{zookeeper.Start(t, zookeeper.Config{SuperPassword: superPassword})}, kind)
		})
	}
	t.Run("terms of a latch", func(t *testing.T) {
		t.Parallel()
		lockstest.Run(t, standalone{zookeeper.Start(t, zookeeper.Config{SuperPassword: superPassword})}, leadertest.LatchQueue())
	})
}
