// Package plan says what is measured: the workloads, and the clients that can run each of them.
package plan

import (
	"slices"
	"time"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/bench/stats"
)

// A Workload is a way to use a lock.
type Workload struct {
	ID        string
	Says      string
	Lock      string // a kind of package job
	Processes int
	Workers   int  // of each process
	Clients   bool // each worker has a client of its own; otherwise those of a process share one
	Own       bool // each worker has a lock of its own
	Hold      time.Duration
	Limit     int
	Raw       bool // the floor is measured, too
	Disk      bool // also on a server whose data lies on a disk
	// Contended says that there is always another waiter.
	Contended bool
	// Stretch is by how much the window is longer than others'; 0 is 1.
	Stretch int
}

const hold = time.Millisecond

// Workloads are all that there are.
var Workloads = []Workload{
	{ID: "uncontended", Says: "one worker, one lock", Lock: job.Mutex, Processes: 1, Workers: 1, Raw: true, Disk: true},
	{ID: "own16", Says: "16 workers, each with its own lock, one client", Lock: job.Mutex, Processes: 1, Workers: 16, Own: true, Raw: true, Disk: true},
	{ID: "one16", Says: "16 workers on one lock, one client", Lock: job.Mutex, Processes: 1, Workers: 16, Contended: true, Disk: true},
	{ID: "mp4", Says: "4 processes with a worker each, one lock", Lock: job.Mutex, Processes: 4, Workers: 1, Contended: true},
	{ID: "mp4hold", Says: "the same, held for 1 ms", Lock: job.Mutex, Processes: 4, Workers: 1, Hold: hold, Contended: true},
	// Longer, so that one acquisition more or less, at the ends of the window, does not make much of a difference between workers.
	{ID: "fair16", Says: "4 processes with 4 workers, each with its own client, one lock, held for 1 ms", Lock: job.Mutex, Processes: 4, Workers: 4, Clients: true, Hold: hold, Contended: true, Stretch: 2},
	{ID: "read", Says: "one worker, read lock", Lock: job.Read, Processes: 1, Workers: 1},
	{ID: "write", Says: "one worker, write lock", Lock: job.Write, Processes: 1, Workers: 1},
	{ID: "rw", Says: "16 workers on one read/write lock, one client, one acquisition in 20 writes", Lock: job.ReadWrite, Processes: 1, Workers: 16},
	{ID: "sem5", Says: "16 workers on a semaphore of 5, one client, held for 1 ms", Lock: job.Semaphore, Processes: 1, Workers: 16, Hold: hold, Limit: 5},
	{ID: "semaphore", Says: "one worker, semaphore of 5", Lock: job.Semaphore, Processes: 1, Workers: 1, Limit: 5},
	{ID: "semmutex", Says: "one worker, semaphore mutex", Lock: job.SemMutex, Processes: 1, Workers: 1},
}

// Named returns the workload with an id.
func Named(id string) (Workload, bool) {
	i := slices.IndexFunc(Workloads, func(w Workload) bool { return w.ID == id })
	if i < 0 {
		return Workload{}, false
	}
	return Workloads[i], true
}

// Window returns how long the workload is measured where others are measured for so long.
func (w Workload) Window(others time.Duration) time.Duration {
	return others * time.Duration(max(1, w.Stretch))
}

// Rules returns how holds may overlap.
func (w Workload) Rules() stats.Rules {
	switch w.Lock {
	case job.Read, job.ReadWrite:
		return stats.Rules{Room: w.Processes * w.Workers, WritersAlone: w.Lock == job.ReadWrite}
	case job.Semaphore:
		return stats.Rules{Room: w.Limit}
	default:
		return stats.Rules{Room: 1, Own: w.Own}
	}
}
