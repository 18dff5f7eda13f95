// Package job is what the benchmark and the processes that take locks say to each other, one JSON object a line:
//
//	benchmark: a Job on the process's stdin     which locks, of whom, by how many
//	process:   a Ready                          connected, and warmed up; its workers go on taking locks
//	benchmark: a Window                         what is measured
//	process:   an Answer, and ends
//
// Times are nanoseconds of CLOCK_MONOTONIC, which all processes of a machine have in common, whatever their language.
package job

import "time"

// The kinds of locks.
const (
	Mutex     = "mutex"
	Read      = "read"
	Write     = "write"
	ReadWrite = "rw" // most cycles read, some write: see Writes
	Semaphore = "semaphore"
	SemMutex  = "semmutex"
)

// A Job is what a process is to do.
type Job struct {
	Impl    string        `json:"impl"`
	Lock    string        `json:"lock"`
	Server  string        `json:"server"`  // host:port
	Path    string        `json:"path"`    // fresh for each run
	Own     bool          `json:"own"`     // each worker has a lock of its own, below Path
	First   int           `json:"first"`   // the number of the first worker, among those of all processes
	Workers int           `json:"workers"` // in this process
	Clients bool          `json:"clients"` // each worker has a client of its own; otherwise all share one
	Limit   int           `json:"limit"`   // a semaphore's limit
	Hold    time.Duration `json:"hold"`
	Think   time.Duration `json:"think"` // from a release to the next acquire, on average; of workers in Go alone
	Warmup  time.Duration `json:"warmup"`
	Session time.Duration `json:"session"`
	// Idle is how long the node of a lock stays while no worker wants it, for the variant of this library that retains
	// locks.
	Idle time.Duration `json:"idle"`
	// Record is how many cycles a worker writes down; what comes after them is only counted.
	Record int `json:"record"`
}

// Ready says that a process is warm, or why it will never be.
type Ready struct {
	Ready bool   `json:"ready"`
	Error string `json:"error,omitempty"`
}

// A Window says what is measured: the acquisitions in [Start, End). Workers end when it has passed.
type Window struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// An Answer says what happened in the window.
type Answer struct {
	Workers []Worker `json:"workers"`
	// Late says that the process heard of the window only after its start, and so has not seen all of it.
	Late bool `json:"late,omitempty"`
}

// A Worker is what one worker did.
type Worker struct {
	Number   int    `json:"number"`
	Acquired int64  `json:"acquired"`        // how often the lock was acquired in the window
	Errors   int64  `json:"errors"`          // calls that failed; a failed acquire is tried again
	Error    string `json:"error,omitempty"` // the first of them
	// Stamps has five numbers for each cycle that was acquired, or still waited, in the window: when acquire was called
	// and returned, and release was called and returned, counted from Start, and whether the cycle wrote.
	Stamps []int64 `json:"stamps"`
	// Full is the time, counted from Start, of the first cycle that was not written down; 0 if all were.
	Full int64 `json:"full,omitempty"`
}

// Stamped is the length of a cycle in Worker.Stamps.
const Stamped = 5

// Writes reports whether a worker's nth cycle writes, where most read: one in twenty does, and workers not at the same
// time. Bench.java and bench.py have the same rule.
func Writes(worker, n int) bool { return (n+7*worker)%20 == 0 }
