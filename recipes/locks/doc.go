// Package locks has Curator's lock recipes for Go: locks that exclude each other between processes, through ZooKeeper,
// on the same nodes as Java Curator.
//
// # Use
//
//	mutex := locks.NewInterProcessMutex(client, "/locks/nightly")
//	lease, err := mutex.Acquire(ctx) // ctx bounds this wait, nothing else
//	if err != nil { … }
//	defer lease.Release()
//	ctx = lease.Context(ctx) // ends when ctx ends or the lock is lost; owns the lock
//	return audit(ctx)
//
// or, shorter, [Do].
//
// # Who owns a lock
//
// The context that [Lease.Context] returns. An Acquire of the same lock with it, or with one derived from it,
// re-enters; the lock is free when every lease has been released. Any other context makes another contender, also on
// the same goroutine, so a caller that does not pass the context on deadlocks, and its error says so
// ([AcquireError.OwnLease]). Goroutines that share an owning context do not exclude each other, unless by
// [WithoutLease]. Objects with one client, path and recipe (mutex, read/write lock or semaphore) are one lock.
//
// # Guarantees
//
// The tests cite them by number; package lockstest has them as a suite.
//
//	G1   Exclusion: no two grants of one exclusive lock overlap; of a read/write lock, no grant of another owner
//	     overlaps with a writer's; a semaphore admits no contender beyond its limit, and none while its
//	     shared.SharedCount is not followed. A grant ends when its node is deleted or at its Release, whichever is
//	     first.
//	G2   The holder knows first: a lease ends by its own clock before ZooKeeper may admit another contender, unless a
//	     server shortens the session unheard. See package framework.
//	G3   First come, first served: contenders are admitted in the order in which their nodes were created.
//	G4   One wake-up: a release admits one contender (readers behind one writer together), and one more learns it is
//	     next; no other is woken. A waiter watches its own node and at most three ahead. Giving up leaves no
//	     watch. The directory of a lock that a client uses again and again has one, until the client has left the lock
//	     alone for a second.
//	G5   No residue: however an acquire ends, its node is removed, before it returns or in the background until that is
//	     done or the session is over. Parents are containers, and go after their last child.
//	G6   A lost reply is no second node: the node is found again by its GUID, and adopted or removed. A node that a
//	     server creates late, by less than four session timeouts, is removed: until then others may wait for it.
//	G7   Session-true: no grant is given on a node of another session, and no request of one is executed in the next.
//	G8   Removed by hand: a held lock is lost as soon as its client hears of its node's deletion; it watches the nodes
//	     of holds that have lasted for some 50 ms. A waiting contender queues again at the tail.
//	G9   Fence: FencingToken is greater than that of every earlier conflicting hold of the same lock.
//	G10  Outages are waited out: a waiter keeps its place through every disconnection shorter than its session, and
//	     queues again after a longer one. Only its context, a closed client or an error that will not go away ends the
//	     wait. An acquire that begins without a connection fails after the connection timeout.
//	G11  Strangers do not block: children that are no lock nodes are ignored. When a directory's counter ends, after two
//	     thousand million nodes, newcomers are refused with [ErrCounterExhausted] until the directory is created again.
//	G12  Close is prompt: it ends every wait with framework.ErrClosed and every lease, and leaves no goroutine, except
//	     for running callbacks of the user.
//	G13  Same wire: names, modes, data and parents are Curator's.
//
// Some are weaker at servers without createContainer (G5, G11, G13) or removeWatches (G4): see examples/runbook.
//
// G1 and G2 exclude what package framework excludes: nodes and sessions that an administrator removed, a process or a
// guest that is paused while it holds, an ensemble that was wiped, replaced or restored from a backup (fencing tokens
// then start again, G9), servers that lose writes that they have answered, and the gap of framework.WithSyncRenewal.
// [Lease.FencingToken] and [Lease.Check] let a store refuse a late holder. A [RetainedLock] has exceptions to G3, G4
// and G9.
//
// # When the session goes
//
// A lost connection ends no lease, except with framework.StandardErrorPolicy. Leases are valid until
// [Lease.ValidUntil], which moves on as long as the ensemble answers. After that Done is closed, contexts end with a
// [*LostError] as their cause, and Err, re-entry and Check refuse. Waiters wait on.
//
// After a pause of the process or the machine timers are late, but the first Err of a lease or of its context is
// correct. It compares the time, and ends the lease and the contexts made from it within the call.
//
// # Sharing with Java and Python
//
// Java Curator 5, go-zookeeper's zk.Lock and this package stand in one queue, kazoo with extra_lock_patterns
// (examples/runbook). Others guarantee less (examples/comparison): their holders do not hear of a loss, strangers may
// block Curator, and its semaphore may return a dead lease.
//
// Names are Curator's, and end the documentation of what has one there. examples/porting has every method and what
// differs.
//
// # Concurrency
//
// Everything exported is safe for concurrent use. How it works inside: DESIGN.md.
package locks
