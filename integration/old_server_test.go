//go:build unix

package integration_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// Locks on whatever server there is, without looking at what a server older than 3.5 cannot do: containers and the
// removal of watches. Run it with ZOOKEEPER_VERSION=3.4.14.
func TestLocksOnAServerOfAnyAge(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	for name, lock := range map[string]func(c *framework.Client, path string) locks.Lock{
		"mutex": func(c *framework.Client, path string) locks.Lock { return locks.NewInterProcessMutex(c, path) },
		"writer": func(c *framework.Client, path string) locks.Lock {
			return locks.NewInterProcessReadWriteLock(c, path).WriteLock()
		},
		"semaphore": func(c *framework.Client, path string) locks.Lock { return locks.NewInterProcessSemaphoreMutex(c, path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := "/any/" + name
			var inside, overlaps, got atomic.Int32
			var group sync.WaitGroup
			for range 3 {
				client := newClient(t, server)
				for range 3 {
					group.Go(func() {
						for range 10 {
							quit, cancel := context.WithTimeout(t.Context(), time.Millisecond)
							// a wait that is given up leaves a watch
							if lease, err := lock(client, path).Acquire(quit); err == nil {
								_ = lease.Release()
							}
							cancel()
							lease, err := lock(client, path).Acquire(t.Context())
							if err != nil {
								t.Error(err)
								return
							}
							if inside.Add(1) > 1 {
								overlaps.Add(1)
							}
							time.Sleep(time.Millisecond)
							inside.Add(-1)
							got.Add(1)
							if err := lease.Release(); err != nil && !errors.Is(err, locks.ErrLeaseLost) {
								t.Error(err)
							}
						}
					})
				}
			}
			group.Wait()
			if got.Load() != 90 || overlaps.Load() != 0 {
				t.Errorf("granted: %d of 90, overlapped: %d", got.Load(), overlaps.Load())
			}
		})
	}
}
