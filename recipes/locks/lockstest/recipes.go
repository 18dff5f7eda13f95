package lockstest

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Recipes are all recipes of package locks, as they are to be tested.
func Recipes() []Recipe {
	return []Recipe{mutex(), writeLock(), readLock(), semaphore(), semaphoreMutex(), multiLock()}
}

func mutex() Recipe {
	return Recipe{
		Name: "InterProcessMutex",
		New: func(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessMutex(client, path, opts...)
		},
		Capacity:  1,
		Reentrant: true,
		Marker:    "lock-",
		Foreign:   foreign(true),
	}
}

func newWriteLock(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
	return locks.NewInterProcessReadWriteLock(client, path, opts...).WriteLock()
}

func writeLock() Recipe {
	return Recipe{
		Name: "WriteLock", New: newWriteLock, Capacity: 1, Reentrant: true, Marker: "__WRIT__", Foreign: foreign(true),
	}
}

func readLock() Recipe {
	return Recipe{
		Name: "ReadLock",
		New: func(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessReadWriteLock(client, path, opts...).ReadLock()
		},
		Rival:     newWriteLock,
		Reentrant: true,
		Marker:    "__READ__",
		Foreign:   foreign(false),
	}
}

// foreign are the names of other libraries' nodes, those of readers included or not.
func foreign(readers bool) []string {
	names := []string{
		"_c_0123456789abcdef0123456789abcdef-lock-",        // go-zookeeper
		"0123456789abcdef0123456789abcdef__lock__",         // kazoo
		"_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-lock-",    // Curator's mutex
		"_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-__WRIT__", // Curator's writer
	}
	if readers {
		names = append(names,
			"0123456789abcdef0123456789abcdef__rlock__",
			"_c_6ba7b810-9dad-41d1-80b4-00c04fd430c8-__READ__",
		)
	}
	return names
}

func semaphoreDirs(path string) []string { return []string{path + "/leases", path + "/locks"} }

// semaphoreWatches: the front waiter watches its nodes in the gate and among the leases, and the leases; the others
// stand behind it in the gate.
func semaphoreWatches(leases, waiters int) int {
	if waiters == 0 {
		return leases
	}
	return leases + 2*waiters + 1
}

func semaphore() Recipe {
	return Recipe{
		Name: "InterProcessSemaphoreV2",
		New: func(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessSemaphoreV2(client, path, 3, opts...)
		},
		Capacity: 3, Gated: true, Marker: "lease-", Dirs: semaphoreDirs, Watches: semaphoreWatches,
	}
}

func semaphoreMutex() Recipe {
	return Recipe{
		Name: "InterProcessSemaphoreMutex",
		New: func(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessSemaphoreMutex(client, path, opts...)
		},
		Capacity: 1, Gated: true, Marker: "lease-", Dirs: semaphoreDirs, Watches: semaphoreWatches,
	}
}

func multiLock() Recipe {
	dirs := func(path string) []string { return []string{path + "/a", path + "/b"} }
	return Recipe{
		Name: "InterProcessMultiLock",
		New: func(client *framework.Client, path string, opts ...locks.Option) locks.Lock {
			return locks.NewInterProcessMultiLockWithPaths(client, dirs(path), opts...)
		},
		Capacity: 1, Reentrant: true, Composed: true, Dirs: dirs,
		Watches: func(leases, waiters int) int { return 2*leases + 2*waiters },
	}
}
