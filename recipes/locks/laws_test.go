package locks_test

import (
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

func TestInterProcessMutexKeepsTheLaws(t *testing.T) {
	lockstest.Run(t, lockstest.InMemory{}, lockstest.Recipe{
		Name: "mutex",
		New: func(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessMutex(client, path, opts...)
		},
		Capacity:  1,
		Reentrant: true,
		Marker:    "lock-",
		Foreign: []string{
			"_c_0123456789abcdef0123456789abcdef-lock-",        // go-zookeeper
			"0123456789abcdef0123456789abcdef__lock__",         // kazoo
			"0123456789abcdef0123456789abcdef__rlock__",        // kazoo's reader
			"_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-__READ__", // Curator's reader
		},
	})
}
