//go:build !race

package locks_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/internal/costtest"
	"github.com/gocurator/curator/recipes/locks"
)

// held acquires a lock, and keeps it.
func held(m *costtest.Meter, lock locks.Lock) any {
	lease, err := lock.Acquire(m.T.Context())
	m.Do(err)
	return lease
}

func lockPath(i int) string { return fmt.Sprintf("/locks/%06d", i) }

func TestCostsInMemory(t *testing.T) {
	costtest.Weigh(t, "locks", costtest.Weights{
		"locks.InterProcessMutex: a held lock": func(m *costtest.Meter, i int) any {
			return held(m, locks.NewInterProcessMutex(m.Client, lockPath(i)))
		},
		"locks.InterProcessMutex: a waiter": func(m *costtest.Meter, i int) any {
			if i == 0 {
				return held(m, rivalMutex(m))
			}
			m.Go(func() { _, _ = ourMutex(m).Acquire(m.T.Context()) })
			return nil
		},
		"locks.RetainedLock: an idle lock": func(m *costtest.Meter, i int) any {
			lock := locks.NewInterProcessMutex(m.Client, lockPath(i)).Retained(locks.RetainIdle(time.Hour))
			cycle := cycles(m, 4, lock)
			cycle()
			return lock
		},
		"locks.InterProcessReadWriteLock: a reader": func(m *costtest.Meter, _ int) any {
			return held(m, locks.NewInterProcessReadWriteLock(m.Client, path).ReadLock())
		},
		"locks.InterProcessSemaphoreV2: a lease": func(m *costtest.Meter, _ int) any {
			return held(m, leasesOf(m, 100_000))
		},
	}, costtest.Costs{
		"locks.InterProcessMutex: acquire and release, with the server's part": func(m *costtest.Meter) func() {
			return cycles(m, 20, ourMutex(m))
		},
		"locks.InterProcessMutex: acquire again, with the lease's context": func(m *costtest.Meter) func() {
			return reentries(m)
		},
		"locks.RetainedLock: acquire and release again": func(m *costtest.Meter) func() {
			return cycles(m, 20, ourRetained(m))
		},
		"locks.InterProcessSemaphoreV2: acquire and release a lease, with the server's part": func(m *costtest.Meter) func() {
			return cycles(m, 20, leasesOf(m, 3))
		},
	})
}

// About half are the server's, which is in this process. One timer that each wait for a connection makes is three. With
// the race detector a sync.Pool drops one object in four, which is allocated again.
func TestACycleOfALoneWorkerAllocatesLittle(t *testing.T) {
	w := newLoneWorker(t)
	const times = 200
	least := func(f func(*testing.T)) float64 {
		repeat := func() {
			for range times {
				f(t)
			}
		}
		repeat() // numbers below 256 are boxed without an allocation
		n := testing.AllocsPerRun(1, repeat)
		for range 4 { // the garbage collector, and what else runs, allocates as well
			n = min(n, testing.AllocsPerRun(1, repeat))
		}
		return math.Round(n / times) // a few are less often than in each cycle
	}
	const most, more = 99, 16
	switch cycle, raw := least(w.cycle), least(w.raw); {
	case cycle > most:
		t.Errorf("got %v allocations a cycle, want at most %d", cycle, most)
	case cycle > raw+more:
		t.Errorf("got %v allocations a cycle, and %v for a creation and a deletion; want at most %d more", cycle, raw, more)
	default:
		t.Logf("%v allocations a cycle, %v for a creation and a deletion", cycle, raw)
	}
}
