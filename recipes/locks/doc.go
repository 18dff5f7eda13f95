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
// The context that [Lease.Context] returns. An Acquire of the same lock with it, or with one derived from it, re-enters
// at once; the lock is free when every lease has been released. An Acquire with any other context is a contender of its
// own, also on the same goroutine: a caller that forgets to hand the context on deadlocks, and its error says so
// ([AcquireError.OwnLease]). Goroutines that share an owning context do not exclude each other; [WithoutLease]
// makes a goroutine a contender of its own. "The same lock" means the same client, path and family of recipes, not the
// same object.
//
// # Guarantees
//
// The tests cite them by number; package lockstest has them as a suite.
//
//	G1   Exclusion: no two grants of one exclusive lock overlap; of a read/write lock, no grant of another owner overlaps
//	     with a writer's; a semaphore has never more leases than its limit. A grant ends when its node is deleted or at its
//	     Release, whichever is first. Deletion by hand is outside, see below: the holder hears of it later.
//	G2   The holder knows first: a lease ends by its own clock before ZooKeeper may let anybody else in. See package framework.
//	G3   First come, first served: contenders are admitted in the order in which their nodes were created.
//	G4   One wake-up: a release lets one contender in (readers behind one writer together), and tells one more that it is next;
//	     nobody else hears of it. A waiter watches its own node and one other: the nearest that stands in its way, or the next
//	     nearest as long as there is one. Giving up leaves no watch anywhere; on the directory of a lock that a client uses
//	     again and again there is one, until it has left the lock alone for a second.
//	G5   No residue: whatever ends an acquire, its node is removed, at once or in the background until that is done or the
//	     session is over. Parents are containers, and go after their last child.
//	G6   A lost reply is no second node: the node is found again by its GUID, and adopted or removed.
//	G7   Session-true: no grant is given on a node of another session, and nothing asked for in one is executed in the next.
//	G8   Removed by hand: a held lock whose node is deleted is lost as soon as its client hears of it, which watches the
//	     nodes of holds that have lasted for some 50 ms; a waiting contender queues again at the tail.
//	G9   Fence: FencingToken is greater than that of every earlier conflicting hold of the same lock.
//	G10  Outages are waited out: a waiter keeps its place through every disconnection shorter than its session, and queues again
//	     after a longer one. Only its context, a closed client or an error that will not go away ends the wait.
//	G11  Strangers do not block: children that are no lock nodes are ignored. When a directory's counter comes to its end, after
//	     two thousand million nodes, newcomers are refused with [ErrNoMoreNumbers] until the directory has been made anew.
//	G12  Close is prompt: it ends every wait with framework.ErrClosed and every lease, and leaves no goroutine, except for
//	     callbacks of the user that are still running.
//	G13  Same wire: names, modes, data and parents are Curator's.
//
// At servers that lack requests (see the runbook) three promises are smaller. Without createContainer, parents are
// persistent: they stay (G5, G13), and a counter that has come to its end (G11) starts anew only when an administrator removes
// the directory. Without removeWatches, a wait that is given up leaves its watch until it fires or the connection ends
// (G4). Without create2, an acquire takes one round trip more.
//
// Outside G1 and G2 are nodes that are removed by hand or by an administrator's session kill, a process that is paused
// while it believes to hold (it knows at its first look, but cannot look while it is paused; [Lease.FencingToken] and
// [Lease.Check] are for that), a guest whose clock stood still while its host paused it, an ensemble that was wiped,
// replaced or restored from a backup, where fencing tokens start anew, so that G9 ends with it as well, and, if the
// client has framework.WithLeaderRenewal, a leader that was deposed by halves; see package framework.
//
// # How one round trip is enough
//
// An acquire sends the creation of its node and the listing of the queue in one segment; a queue that a client has had
// to itself for a while is not listed at all. A contender that waits learns ahead of time that it is next, so that a
// release and the next admission are one deletion and one event. The rules by which that is sound, and what they assume
// of servers, stand in package recipes/internal/queue; guarantees_table_test.go, here, lists the tests of each.
//
// # Retained locks
//
// By default every contender has a node, which its release removes. With [Retain] the contenders of one client stand in a
// local queue, and the node of its front goes from one to the next without a request; with [Idle] it stays for a moment
// when none of them wants it. Use it for a lock that one client takes often and for moments, and others seldom. It costs
// others a wait for the session timeout when an idle holder crashes, a try that fails on an idle lock, and up to two round
// trips when they come. Three guarantees hold with exceptions: G3 and G4 between the local queue and others, and G9 by the
// pair of [Lease.FencingToken] and [Lease.LocalCount].
//
// Each hold is a grant of its own over that of the node. It is over with its last lease, so that nobody re-enters the next
// one's hold; it is lost with the grant of the node; and the check that the grant lasts and the beginning of the hold are
// one step. A node that is removed by hand is missed when it has been there for a moment, as ever.
//
// # When the session goes
//
// A lost connection alone ends nothing (unless the client has framework.StandardErrorPolicy): leases are valid until
// [Lease.ValidUntil], which moves on as long as the ensemble answers. After that Done is closed, contexts end with a
// [*LostError] as their cause, and Err, re-entry and Check refuse. Waiters wait on.
//
// # Sharing with Java and Python
//
// Java Curator 5, go-zookeeper's zk.Lock and this package stand in one queue. What the others do not do, and what to
// set:
//
//   - kazoo looks at its own nodes only, unless it knows of others: extra_lock_patterns is ["lock-"] for its Lock,
//     ["__WRIT__"] for its ReadLock, ["__WRIT__", "__READ__"] for its WriteLock. Its nodes count here without being
//     told.
//   - Curator never looks at kazoo's nodes: Java and kazoo do not exclude each other on one path.
//   - Curator's mutex and its read/write lock on one path do not exclude each other. Here all of them count; a Java
//     mutex is let in beside a writer of ours all the same.
//   - Curator sorts by text. When the counter of a lock's directory comes to its end, after two thousand million
//     acquisitions, its newcomers get in beside the holder: they have negative numbers at older servers, and all the
//     same number at newer ones. Here nobody of ours is there by then: they are refused with [ErrNoMoreNumbers] from
//     2³¹-2¹⁶ on. Others' nodes with negative numbers count as ahead of all of ours. A directory that is left alone
//     goes away, and its counter with it.
//   - Curator up to 5.4 lets a writer in after a downgrade of its own, whatever the writer's language. It waits for
//     downgrades made here.
//   - Holders in other libraries are not told of a loss. Curator's semaphore, when its session ends while an acquire
//     leaves the inner mutex, even returns a lease that is dead. Our waiters are let in when the servers say so, not
//     before.
//   - A child such as "0" blocks Curator for ever, and zk.Lock fails on a semaphore's path. Strangers do not count
//     here, and a semaphore on a lock's path, or a lock on a semaphore's, is [ErrOtherRecipe].
//
// integration/interop shows each of these on the real libraries.
//
// # For readers of Curator
//
// Names are Curator's, and what has one there ends its documentation with it. The folder examples/porting has every
// method in a table, and the same code in both languages. The owner is a context where Java's is a thread, and what one
// releases is the [Lease]. What differs on purpose: the holder learns of a loss, and re-enters a lost lock no more; an
// upgrade is refused at once; waits outlast any number of retries; a context bounds a multi-lock as a whole; a try that
// fails has written nothing.
//
// Not here are:
//
//   - LockInternalsDriver and what belongs to it: a driver changes who is let in, and others in the queue know nothing
//     of it. Recipes are made of framework.Session.
//   - Constructors and methods for subclasses: options, [Trace] and [Lease] take their place.
//   - InterProcessSemaphore: deprecated there, since it does not serve in order. InterProcessSemaphoreV2 takes its
//     place, but not on the same path at the same time.
//   - Reaper, ChildReaper and LOCK_SCHEMA: the servers remove empty containers by themselves.
//   - dontUseContainerParents: it is for servers older than 3.5.
//
// # Concurrency
//
// Everything exported is safe for concurrent use.
package locks
