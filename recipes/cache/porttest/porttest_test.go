package porttest_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/gocurator/curator/recipes/cache/porttest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

var seeds = flag.Int("seeds", 1, "how many seeds the programs run with")

func TestProgramsOnCachesKnowWhatTheServersHaveAtEveryQuietMoment(t *testing.T) {
	for seed := range *seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			porttest.Run(t, lockstest.InMemory{}, porttest.Rounds{Seed: uint64(seed), N: 2, Steps: 20, Services: 210})
		})
	}
}
