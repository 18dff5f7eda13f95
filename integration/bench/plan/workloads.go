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
	Label     string // in tables and plots
	Lock      string // a kind of package job
	Processes int
	Workers   int  // in each process
	Clients   bool // each worker has a client of its own; otherwise those of a process share one
	Own       bool // each worker has a lock of its own
	Hold      time.Duration
	Limit     int
	Raw       bool // the floor is measured, too
	Disk      bool // also on a server whose data lies on a disk
	Retained  bool // retained locks are measured beside plain ones, too
	// Contended says that there is always another waiter.
	Contended bool
	// Stretch is by how much the window is longer than others'; 0 is 1.
	Stretch int
	// Think is how long a worker waits after a release, on average, in multiples of the time for which a retained node
	// stays idle.
	Think float64
	// Graded says that Think is the last process's pause. The first does not pause, and those in between do so in
	// steps.
	Graded bool
	// Retention says that only this library runs it, with retained locks and without them, and Java Curator if
	// Reference is set.
	Retention, Reference bool
}

const hold = time.Millisecond

// Workloads are all that there are.
var Workloads = []Workload{
	{ID: "uncontended", Label: "1 worker, 1 lock", Lock: job.Mutex, Processes: 1, Workers: 1, Raw: true, Disk: true, Retained: true},
	{ID: "own16", Label: "16 workers, 16 locks", Lock: job.Mutex, Processes: 1, Workers: 16, Own: true, Raw: true, Disk: true},
	{ID: "one16", Label: "16 workers, 1 lock", Lock: job.Mutex, Processes: 1, Workers: 16, Contended: true, Disk: true, Retained: true},
	{ID: "mp4", Label: "4 processes, 1 lock", Lock: job.Mutex, Processes: 4, Workers: 1, Contended: true},
	// Longer, so that one acquisition more or less, at the ends of the window, does not make much of a difference
	// between workers.
	{ID: "fair16", Label: "4 processes, 16 workers, 1 lock, held for 1 ms", Lock: job.Mutex, Processes: 4, Workers: 4, Clients: true, Hold: hold, Contended: true, Stretch: 2},
	{ID: "read", Label: "1 worker, read lock", Lock: job.Read, Processes: 1, Workers: 1},
	{ID: "write", Label: "1 worker, write lock", Lock: job.Write, Processes: 1, Workers: 1},
	{ID: "rw", Label: "16 workers, read/write lock, 1 write in 20", Lock: job.ReadWrite, Processes: 1, Workers: 16},
	{ID: "sem5", Label: "16 workers, semaphore of 5, held for 1 ms", Lock: job.Semaphore, Processes: 1, Workers: 16, Hold: hold, Limit: 5},
	{ID: "semaphore", Label: "1 worker, semaphore of 5", Lock: job.Semaphore, Processes: 1, Workers: 1, Limit: 5},
	{ID: "semmutex", Label: "1 worker, semaphore mutex", Lock: job.SemMutex, Processes: 1, Workers: 1},
	{ID: "pingpong", Label: "2 processes, no pause", Lock: job.Mutex, Processes: 2, Workers: 1, Contended: true, Retention: true, Reference: true},
	{ID: "pingpong-think0.5", Label: "2 processes, pauses of half the idle time", Lock: job.Mutex, Processes: 2, Workers: 1, Think: 0.5, Retention: true, Stretch: 3},
	{ID: "mp16", Label: "16 processes, no pause", Lock: job.Mutex, Processes: 16, Workers: 1, Contended: true, Retention: true},
	{ID: "mp16-think1", Label: "16 processes, pauses of one idle time", Lock: job.Mutex, Processes: 16, Workers: 1, Think: 1, Retention: true, Stretch: 2},
	{ID: "mp16-think10", Label: "16 processes, pauses of 10 idle times", Lock: job.Mutex, Processes: 16, Workers: 1, Think: 10, Retention: true, Stretch: 3},
	{ID: "mp16-graded10", Label: "16 processes, pauses from none to 10 idle times", Lock: job.Mutex, Processes: 16, Workers: 1, Think: 10, Graded: true, Retention: true, Stretch: 3},
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

// ThinkTime returns how long the workers of a process wait after a release, on average.
func (w Workload) ThinkTime(process int, idle time.Duration) time.Duration {
	think := w.Think * float64(idle)
	if w.Graded {
		think *= float64(process) / float64(w.Processes-1)
	}
	return time.Duration(think)
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
