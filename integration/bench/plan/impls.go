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
	Durable  bool     // its server syncs each write, so that it can also be measured on a disk
	OnlyDisk bool     // it is measured there alone: in memory it would be as another client is
	Beside   bool     // it keeps nothing on a disk, and is measured beside one that does
	Volatile bool     // its servers have locks in memory alone, and do not agree on them
	Ends     bool     // its acquires take a context that ends them, and its servers show what they leave
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
	{ID: Ours, Label: "this library", Server: server.ZooKeeper, Language: Go, Locks: all, Ends: true, Durable: true},
	{ID: Retained, Label: "this library, retained", Server: server.ZooKeeper, Language: Go, Locks: mutex, Ends: true},
	{ID: Reference, Label: "Java Curator", Server: server.ZooKeeper, Language: Java, Locks: all, Durable: true},
	{ID: "zk.Lock", Label: "go-zookeeper's zk.Lock", Server: server.ZooKeeper, Language: Go, Locks: mutex, Durable: true},
	{ID: "kazoo", Label: "kazoo (Python)", Server: server.ZooKeeper, Language: Python, Locks: most, Durable: true},
	{ID: "etcd", Label: "etcd", Server: server.Etcd, Language: Go, Locks: mutex, Ends: true, Durable: true},
	{ID: "nats", Label: "NATS JetStream KV", Server: server.NATS, Language: Go, Locks: mutex, Ends: true, Durable: true},
	{ID: "postgres", Label: "Postgres advisory lock", Server: server.Postgres, Language: Go, Locks: mutex, Ends: true, Volatile: true},
	{ID: "redsync", Label: "redsync, one Redis in memory", Server: server.Redis, Language: Go, Locks: mutex, Ends: true, Beside: true, Volatile: true},
	{ID: "redsync-always", Label: "redsync, one Redis that syncs", Server: server.RedisAlways, Language: Go, Locks: mutex, Ends: true, Durable: true, OnlyDisk: true},
	{ID: "redsync-three", Label: "redsync, three Redis in memory", Server: server.ThreeRedis, Language: Go, Locks: mutex, Ends: true, Volatile: true},
	{ID: "redislock", Label: "redislock, one Redis in memory", Server: server.Redis, Language: Go, Locks: mutex, Ends: true, Volatile: true},
	{ID: Floor, Label: "bare create and delete", Server: server.ZooKeeper, Language: Go, Locks: mutex, Durable: true, Floor: true},
}

// Client returns the client with an id.
func Client(id string) (Impl, bool) {
	i := slices.IndexFunc(Impls, func(i Impl) bool { return i.ID == id })
	if i < 0 {
		return Impl{}, false
	}
	return Impls[i], true
}

// Runs reports whether the client can run a workload.
func (i Impl) Runs(w Workload) bool {
	if w.Retention {
		return i.ID == Ours || i.ID == Retained || i.ID == Reference && w.Reference
	}
	return slices.Contains(i.Locks, w.Lock) && (!i.Floor || w.Raw) && (i.ID != Retained || w.Retained)
}

// RunsAt reports whether the client runs a workload where servers have their data on a disk, or in memory.
func (i Impl) RunsAt(w Workload, disk bool) bool {
	if disk {
		return i.Runs(w) && w.Disk && (i.Durable || i.Beside)
	}
	return i.Runs(w) && !i.OnlyDisk
}
