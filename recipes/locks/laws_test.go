package locks_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/sampletest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

func TestRecipesKeepTheLaws(t *testing.T) {
	for _, recipe := range lockstest.Recipes() {
		t.Run(recipe.Name, func(t *testing.T) { lockstest.Run(t, lockstest.InMemory{}, recipe) })
	}
}

// The exceptions that RetainedLock names: an idle node or one that is handed over wakes no other client, and the
// directory of a hold that lasts is watched until another contender comes.
func TestRetainedLocksKeepTheLaws(t *testing.T) {
	kinds := []struct {
		name string
		opts []locks.RetainOption
	}{
		{"handed over", nil},
		{"idle", []locks.RetainOption{locks.RetainIdle(100 * time.Millisecond)}},
	}
	for _, i := range sampletest.New(t).Part(len(kinds), 2) {
		name, opts := kinds[i].name, kinds[i].opts
		for _, recipe := range lockstest.Recipes() {
			if recipe.Name != "InterProcessMutex" && recipe.Name != "WriteLock" {
				continue
			}
			plain := recipe.New
			recipe.New = func(client *framework.Client, path string, lockOpts ...locks.Option) locks.Lock {
				return retaining(plain(client, path, lockOpts...), opts...)
			}
			recipe.Retained = true
			recipe.Watches = func(leases, waiters int) int {
				if waiters == 0 {
					return 2 * leases
				}
				return leases + 2*waiters
			}
			t.Run(recipe.Name+" "+name, func(t *testing.T) { lockstest.Run(t, lockstest.InMemory{}, recipe) })
		}
	}
}
