package locks_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

func TestSemaphoreHoldsItsLimitWhateverHappens(t *testing.T) {
	for seed := range uint64(seeds) {
		const limit = 4
		in := &place{units: map[*locks.Lease]int{}, limit: limit}
		chaos(t, seed, func(ctx context.Context, p *peer, random *rand.Rand) error {
			n := 1 + random.IntN(limit)
			wait, cancel := context.WithTimeout(ctx, time.Duration(1+random.IntN(60))*time.Second)
			defer cancel()
			leases, err := semaphore(p, limit).AcquireN(wait, n)
			if err != nil {
				if wait.Err() != nil || ofTrouble(err) {
					return nil
				}
				return err
			}
			var each sync.WaitGroup
			for _, lease := range leases {
				each.Go(func() { in.use(lease, 1, time.Second) })
			}
			each.Wait()
			for _, lease := range leases {
				if err := lease.Release(); !ofTrouble(err) {
					return err
				}
			}
			return in.err
		}, leasesPath, gatePath)
	}
}
