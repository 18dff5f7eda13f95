package plan

import "slices"

// A Promise is what a client's lock is meant to guarantee beside speed. It is read from documentation and sources, and
// not measured. Each answer begins with yes or no.
type Promise struct {
	Impls    []string
	Told     string // does the holder learn that the lock is lost before another has it?
	Fence    string // is there a number that grows with each holder, by which a store can refuse an earlier one?
	Failover string // does a held lock survive the loss of a server?
	Fair     string // are waiters served in the order in which they came?
	Source   string // where this stands
}

// Promises are those of all clients that take locks.
var Promises = []Promise{
	{
		Impls: []string{Ours}, Told: "yes, by its own clock", Fence: "yes, FencingToken", Failover: "yes, with an ensemble", Fair: "yes",
		Source: "recipes/locks/doc.go, G2, G3 and G9",
	},
	{
		Impls: []string{Retained}, Told: "yes, by its own clock", Fence: "yes, FencingToken and FencingCount", Failover: "yes, with an ensemble",
		Fair: "no, a process may hold again", Source: "recipes/locks, RetainedLock",
	},
	{
		Impls: []string{Reference}, Told: "no, listeners hear of the connection's state", Fence: "no", Failover: "yes, with an ensemble", Fair: "yes",
		Source: "curator.apache.org, Shared Reentrant Lock, Error Handling; integration/interop",
	},
	{
		Impls: []string{"zk.Lock"}, Told: "no", Fence: "no", Failover: "yes, with an ensemble", Fair: "yes",
		Source: "go-zookeeper/zk, lock.go",
	},
	{
		Impls: []string{"kazoo"}, Told: "no, listeners hear of the connection's state", Fence: "no", Failover: "yes, with an ensemble", Fair: "yes",
		Source: "kazoo.readthedocs.io, Listening for Connection Events; kazoo/recipe/lock.py",
	},
	{
		Impls: []string{"etcd"}, Told: "no, Session.Done closes after the lease has ended", Fence: "yes, the revision in Mutex.Header",
		Failover: "yes, with a cluster", Fair: "yes", Source: "go.etcd.io/etcd/client/v3/concurrency, session.go and mutex.go",
	},
	{
		Impls: []string{"nats"}, Told: "no, the key expires", Fence: "yes, the revision of the key", Failover: "yes, with three replicas",
		Fair: "no, all waiters try", Source: "docs.nats.io, Key/Value Store; worker/nats.go",
	},
	{
		Impls: []string{"postgres"}, Told: "no, the next statement fails", Fence: "no", Failover: "no, locks are in one server's memory",
		Fair: "yes, save for deadlocks", Source: "postgresql.org, Explicit Locking, Advisory Locks",
	},
	{
		Impls: []string{"redsync", "redislock"}, Told: "no, the key expires", Fence: "no", Failover: "no, the key may not have been replicated",
		Fair: "no, all waiters try", Source: "redis.io, Distributed Locks with Redis",
	},
	{
		Impls: []string{"redsync-always"}, Told: "no, the key expires", Fence: "no", Failover: "no, but a restart of the server",
		Fair: "no, all waiters try", Source: "redis.io, Distributed Locks with Redis, Redis Persistence",
	},
	{
		Impls: []string{"redsync-three"}, Told: "no, the keys expire", Fence: "no", Failover: "yes, of one server that does not come back empty",
		Fair: "no, all waiters try", Source: "redis.io, Distributed Locks with Redis, Redlock",
	},
}

// PromiseOf returns what a client promises, and whether it takes locks at all.
func PromiseOf(impl string) (Promise, bool) {
	i := slices.IndexFunc(Promises, func(p Promise) bool { return slices.Contains(p.Impls, impl) })
	if i < 0 {
		return Promise{}, false
	}
	return Promises[i], true
}
