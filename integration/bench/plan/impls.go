package plan

import (
	"slices"
	"time"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/bench/server"
)

// The languages of clients.
const (
	Go     = "go"
	Java   = "java"
	Python = "python"
)

// An Impl is a client that takes locks.
type Impl struct {
	ID       string
	Label    string // in tables
	Server   string // a kind of package server
	Language string
	Locks    []string // the kinds that it has
	Floor    bool     // takes no locks at all: see Workload.Raw
}

// Idle is how long a retained node stays while no worker wants it, unless the command says otherwise.
const Idle = 100 * time.Millisecond

// Ids that something is compared with.
const (
	Ours      = "go-curator"
	Retained  = "go-curator-retained"
	Reference = "java-curator"
	Floor     = "raw"
)

var (
	mutex   = []string{job.Mutex}
	readers = []string{job.Mutex, job.Read, job.Write, job.ReadWrite}
	most    = append(slices.Clone(readers), job.Semaphore)
	all     = append(slices.Clone(most), job.SemMutex)
)

// Impls are all that there are.
var Impls = []Impl{
	{ID: Ours, Label: "this library", Server: server.ZooKeeper, Language: Go, Locks: all},
	{ID: Retained, Label: "this library, retained", Server: server.ZooKeeper, Language: Go, Locks: mutex},
	{ID: Reference, Label: "Java Curator", Server: server.ZooKeeper, Language: Java, Locks: all},
	{ID: "zk.Lock", Label: "zk.Lock", Server: server.ZooKeeper, Language: Go, Locks: mutex},
	{ID: "kazoo", Label: "kazoo", Server: server.ZooKeeper, Language: Python, Locks: most},
	{ID: "etcd", Label: "etcd", Server: server.Etcd, Language: Go, Locks: mutex},
	{ID: "redsync", Label: "redsync", Server: server.Redis, Language: Go, Locks: mutex},
	{ID: "redislock", Label: "redislock", Server: server.Redis, Language: Go, Locks: mutex},
	{ID: Floor, Label: "create + delete", Server: server.ZooKeeper, Language: Go, Locks: mutex, Floor: true},
}

// Runs reports whether the client can run a workload.
func (i Impl) Runs(w Workload) bool {
	if w.Retention {
		return i.ID == Ours || i.ID == Retained
	}
	return slices.Contains(i.Locks, w.Lock) && (!i.Floor || w.Raw)
}
