package locks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// Servers without create2, containers or the removal of watches close the connection on them. Locks do without: nothing
// overlaps, everybody is served, and no node of a contender is left; parents and watches are.
func TestLocksWorkAtServersThatLackRequests(t *testing.T) {
	for name, opt := range map[string]zktest.Option{
		"ZooKeeper 3.4":          zktest.WithVersion("3.4.14"),
		"ClickHouse Keeper 24.8": zktest.WithKeeper("24.8"),
		"ClickHouse Keeper 26.3": zktest.WithKeeper("26.3"),
		"ClickHouse Keeper 26.8": zktest.WithKeeper("26.8"),
	} {
		for kind, lock := range map[string]func(c *framework.Client) locks.Lock{
			"mutex":     func(c *framework.Client) locks.Lock { return locks.NewInterProcessMutex(c, path) },
			"writer":    func(c *framework.Client) locks.Lock { return locks.NewInterProcessReadWriteLock(c, path).WriteLock() },
			"semaphore": func(c *framework.Client) locks.Lock { return locks.NewInterProcessSemaphoreMutex(c, path) },
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				inBubble(t, func(t *testing.T, _ *zktest.Server) {
					server := zktest.New(t, opt)
					servers.Keeper = strings.Contains(name, "Keeper")
					var inside, overlaps, got atomic.Int32
					var group sync.WaitGroup
					for range 4 {
						p := newPeer(t, server)
						p.cable.SetLatency(time.Millisecond)
						for range 3 {
							group.Go(func() {
								for range 5 {
									quit, cancel := context.WithTimeout(t.Context(), time.Millisecond)
									// a wait that is given up leaves a watch
									if lease, err := lock(p.Client).Acquire(quit); err == nil {
										_ = lease.Release()
									}
									cancel()
									lease, err := lock(p.Client).Acquire(t.Context())
									if err != nil {
										t.Error(err)
										return
									}
									if inside.Add(1) > 1 {
										overlaps.Add(1)
									}
									time.Sleep(2 * time.Millisecond)
									inside.Add(-1)
									got.Add(1)
									if err := lease.Release(); err != nil && !errors.Is(err, locks.ErrLeaseLost) && !errors.Is(err, framework.ErrSessionLost) {
										t.Error(err)
									}
								}
							})
						}
					}
					group.Wait()
					if got.Load() != 60 || overlaps.Load() != 0 {
						t.Errorf("granted: %d of 60, overlapped: %d", got.Load(), overlaps.Load())
					}
					time.Sleep(2 * time.Minute) // sessions that ended are over
					for _, dir := range []string{path, path + "/locks", path + "/leases"} {
						for _, node := range server.Children(dir) {
							if node != "locks" && node != "leases" {
								t.Errorf("there is still %s/%s", dir, node)
							}
						}
					}
				})
			})
		}
	}
}

// A reader that stays where a writer was is made by a transaction, which all servers know.
func TestADowngradeAtAServerThatLacksRequests(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *zktest.Server) {
		server := zktest.New(t, zktest.WithVersion("3.4.14"))
		p := newPeer(t, server)
		rw := locks.NewInterProcessReadWriteLock(p.Client, path)
		write := acquire(t, rw.WriteLock())
		read := acquireIn(write.Context(t.Context()), t, rw.ReadLock())
		release(t, write)
		late := begin(t.Context(), t, rw.WriteLock())
		isWaiting(t, late)
		release(t, read)
		release(t, soon(t, late).must(t))
	})
}

// Keeper counts a change of a node's data as one of its parent's children. A node whose number is the next by that
// count is not the next: another contender came before it.
func TestAChangeOfDataIsNotTakenForACreation(t *testing.T) {
	for _, changes := range []int{2, 3, 4, 6} {
		t.Run(fmt.Sprint(changes), func(t *testing.T) {
			inBubble(t, func(t *testing.T, _ *zktest.Server) {
				server := zktest.New(t, zktest.WithKeeper("26.8"))
				servers.Keeper = true
				p, other := newPeer(t, server), newPeer(t, server)
				for range 20 { // the queue is then entered without a listing
					release(t, acquire(t, p.mutex()))
				}
				lease := acquire(t, p.mutex())
				for range changes {
					must(t, locks.AttemptRevoke(t.Context(), p.Client, path+"/"+lease.NodeName()))
				}
				// lists the queue
				if _, err := p.mutex().TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
					t.Fatal(err)
				}
				release(t, lease)
				var held []*locks.Lease
				for range changes / 2 { // as many as the count is ahead
					foreign := other.mutex()
					if len(held) == 0 {
						held = append(held, acquire(t, foreign))
					} else {
						begin(t.Context(), t, foreign)
					}
				}
				waiter := begin(t.Context(), t, p.mutex())
				isWaiting(t, waiter)
				for _, l := range held {
					release(t, l)
				}
			})
		})
	}
}
