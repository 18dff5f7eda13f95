package leadertest

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockopt"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// LatchQueue is the queue of latches as a lock, for the laws of locks: a term is a lease in it. The queue of selectors
// is that of mutexes.
func LatchQueue() lockstest.Recipe {
	return lockstest.Recipe{
		Name: "the queue of LeaderLatches",
		New: func(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessMutex(client, path, append(opts, lockopt.Variant{Marker: "latch-"}.Set)...)
		},
		Capacity: 1, Reentrant: true, Marker: "latch-",
		Foreign: []string{"_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-latch-"},
	}
}
