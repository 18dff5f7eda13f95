//go:build unix

package integration_test

import (
	"testing"

	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/cache/porttest"
)

func TestProgramsOnCachesKnowWhatARealServerHasAtEveryQuietMoment(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{SuperPassword: superPassword})
	porttest.Run(t, standalone{server}, porttest.Rounds{Seed: 1, N: 1, Steps: 20, Services: 210})
}
