package locks_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

// A reader is one unit, a writer all of them. A writer that has become a reader is one.
func TestReadersAndWritersExcludeEachOtherWhateverHappens(t *testing.T) {
	for seed := range uint64(seeds) {
		const everybody = 100
		in := &place{units: map[*locks.Lease]int{}, limit: everybody}
		chaos(t, seed, func(ctx context.Context, p *peer, random *rand.Rand) error {
			rw := readWrite(p)
			var side locks.Lock = rw.ReadLock()
			units := 1
			if random.IntN(2) == 0 {
				side, units = rw.WriteLock(), everybody
			}
			wait, cancel := context.WithTimeout(ctx, time.Duration(1+random.IntN(60))*time.Second)
			defer cancel()
			lease, err := side.Acquire(wait)
			if err != nil {
				if wait.Err() != nil || ofTrouble(err) {
					return nil
				}
				return err
			}
			in.use(lease, units, time.Duration(random.IntN(1000))*time.Millisecond)
			if units == everybody && random.IntN(2) == 0 {
				read, err := rw.ReadLock().Acquire(lease.Context(wait))
				if err := lease.Release(); !ofTrouble(err) {
					return err
				}
				if err != nil {
					if wait.Err() != nil || ofTrouble(err) {
						return nil
					}
					return err
				}
				lease = read
				in.use(lease, 1, time.Duration(random.IntN(1000))*time.Millisecond)
			}
			if err := lease.Release(); !ofTrouble(err) {
				return err
			}
			return in.err
		}, path)
	}
}
