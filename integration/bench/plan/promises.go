package plan

import "slices"

// A Promise is what a client's lock is meant to guarantee beside speed. It is read from documentation and sources, and
// not measured. Each answer begins with yes, no or partly. The comparison in examples/comparison has the same answers;
// a test compares them.
type Promise struct {
	Impls    []string
	Told     string // does the holder learn that the lock is lost before another has it?
	Fence    string // is there a number that grows with each holder, by which a store can refuse an earlier one?
	Failover string // does a held lock survive the loss of a server?
	Fair     string // are waiters served in the order in which they came?
	Left     string // what becomes of what an acquire leaves whose context ends; empty if that needs no words
	Source   string // where this stands
}

// Promises are those of all clients that take locks.
//
// What a connection's state says: a client of ZooKeeper takes its connection for lost when it has heard nothing for two
// thirds of the session timeout, and the servers end the session after the whole. A holder that stops at that event
// stops in time, unless its process was paused meanwhile: then the event comes late, and the lock itself knows nothing.
//
// etcd's client closes Session.Done by its own clock, but counts the TTL from when it received the last renewal, and
// looks once a second. The leader counts from when it executed the renewal, and looks every half second. So either may
// be first. Its authors say so, and that a write has to compare the revision; IsOwner is that comparison.
//
// A transaction of Postgres on the connection that holds the lock ends before the server releases the lock: the session
// is both.
var Promises = []Promise{
	{
		Impls: []string{Ours}, Told: "yes, by its own clock", Fence: "yes, FencingToken; Check in a transaction", Failover: "yes, with an ensemble", Fair: "yes",
		Source: "README.md, Guarantees G2, G3 and G9; framework/session/LEASES.md",
	},
	{
		Impls: []string{Retained}, Told: "yes, by its own clock", Fence: "yes, FencingToken and FencingCount", Failover: "yes, with an ensemble",
		Fair: "no, a process may hold again", Source: "recipes/locks, RetainedLock and Lease.FencingCount; framework/session/LEASES.md",
	},
	{
		Impls: []string{Reference}, Told: "partly, SUSPENDED of the connection; not after a pause",
		Fence: "no, by hand the czxid of the path that getLockPath gives a subclass", Failover: "yes, with an ensemble", Fair: "yes",
		Source: "curator.apache.org, Shared Reentrant Lock (Error Handling), Tech Notes 10 and 14; InterProcessMutex.java, its comment and getLockPath",
	},
	{
		Impls: []string{"zk.Lock"}, Told: "partly, StateDisconnected of the connection; not after a pause", Fence: "no",
		Failover: "yes, with an ensemble", Fair: "yes",
		Source: "go-zookeeper/zk, lock.go (Lock.LockWithData; lockPath is not exported), conn.go (recvTimeout in setTimeouts)",
	},
	{
		Impls: []string{"kazoo"}, Told: "partly, SUSPENDED of the connection; not after a pause", Fence: "no, by hand the czxid of lock.node",
		Failover: "yes, with an ensemble", Fair: "yes",
		Source: "kazoo/recipe/lock.py (Error Handling at its head; Lock.node, Lock._get_predecessor); kazoo/protocol/connection.py, read_timeout",
	},
	{
		Impls: []string{"etcd"}, Told: "no, Session.Done may close after the lease has ended", Fence: "yes, the revision in Mutex.Header; IsOwner in a transaction",
		Failover: "yes, with a cluster", Fair: "yes",
		Left: "a key of an ended first request stays until the session ends, or takes the lock again",
		Source: "etcd 3.7.3: client/v3/concurrency/session.go (NewSession), mutex.go (tryAcquire, Header, IsOwner), key.go (waitDeletes); client/v3/lease.go " +
			"(recvKeepAlive, deadlineLoop); server/v3/lease/lessor.go (Renew, runLoop); etcd.io, etcd versus other key-value stores, " +
			"Notes on the usage of lock and lease; jepsen.io/analyses/etcd-3.4.3, Locks",
	},
	{
		Impls: []string{"nats"}, Told: "no, the key expires", Fence: "yes, the revision of the key", Failover: "yes, with three replicas",
		Fair: "no, all waiters try", Left: "worker/nats.go removes the key of an ended create; otherwise it would expire",
		Source: "docs.nats.io, Key/Value Store Walkthrough, Atomic operations; nats.go 1.55, jetstream/kv.go (Create: its revision is the stream's sequence; " +
			"Delete with LastRevision); jepsen.io/analyses/nats-2.12.1, for what sync_interval decides; worker/nats.go",
	},
	{
		Impls: []string{"postgres"}, Told: "no, the next statement fails",
		Fence: "partly, no number; but what the holder writes on the lock's own connection fails with it", Failover: "no, locks are in one server's memory",
		Fair: "yes, save for deadlocks", Left: "pgx closes a connection whose context ends, and the server then releases its locks",
		Source: "PostgreSQL 15, 13.3.5 Advisory Locks; src/backend/storage/lmgr/README, Lock acquisition (rules 1 and 2, ProcLockWakeup) and the " +
			"deadlock detection algorithm",
	},
	{
		Impls: []string{"redsync"}, Told: "partly, Mutex.Until, which the holder has to compare with its clock", Fence: "no, the value is random",
		Failover: "no, the key may not have been replicated", Fair: "no, each tries again after a pause",
		Left: "redsync removes its keys with the context that has ended; those that this leaves expire, here after 8 s",
		Source: "redsync 4.18.1, mutex.go (lockContext, Until, genValue); redis.io, Distributed Locks with Redis, " +
			"Why Failover-based Implementations Are Not Enough, and Disclaimer about consistency",
	},
	{
		Impls: []string{"redsync-always"}, Told: "partly, Mutex.Until, which the holder has to compare with its clock", Fence: "no, the value is random",
		Failover: "no, but a restart of the server", Fair: "no, each tries again after a pause",
		Source: "as redsync; the same page, Performance, Crash Recovery and fsync",
	},
	{
		Impls: []string{"redsync-three"}, Told: "partly, Mutex.Until, which the holder has to compare with its clock", Fence: "no, the value is random",
		Failover: "yes, of one server that does not come back empty", Fair: "no, each tries again after a pause",
		Left:   "as redsync; a lock counts as taken if most of the servers have its key",
		Source: "as redsync; the same page, The Redlock Algorithm, and Performance, Crash Recovery and fsync (delayed restarts)",
	},
	{
		Impls: []string{"redislock"}, Told: "no, Lock.TTL asks the server", Fence: "no, the value is random",
		Failover: "no, the key may not have been replicated", Fair: "no, each tries again after a pause",
		Source: "redislock 0.9.4, redislock.go (Client.Obtain, Lock.TTL, randomToken); the page of redis.io as for redsync",
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
