// Package leader elects one of several processes to lead, through ZooKeeper, on the same nodes as Java Curator.
//
//	selector := leader.NewLeaderSelector(client, "/leaders/billing", leader.WithID(hostname))
//	err := selector.Run(ctx, func(ctx context.Context) error { // until ctx ends or the retry policy gives up
//		return bill(ctx, leader.LeaseFromContext(ctx).FencingToken()) // ctx ends before another process can lead
//	})
//
// # A term of office
//
// A term is a [locks.Lease]. It is exclusive, and ends before another participant can lead, by its own clock if need
// be: guarantees G1 and G2 of package locks. Its end reaches the leader as the end of the context that its function
// gets, as Done and as Err. A process that was suspended while it led learns of the end at its first look: Err of a
// term, or of the context that the function gets, compares the time and ends the term first, so that Done is closed;
// contexts made from it follow within the call. A store is protected by FencingToken, which grows from term to term,
// and a transaction by Check.
//
// At the end of a term that was not lost, when the function returns or the lease is released, first the term ends, and
// then its node is removed.
//
// # Who leads
//
// Participants lead in the order in which they came. [LeaderSelector.Participants], [LeaderSelector.Leader] and
// [LeaderSelector.Observe] tell who they are; each participant has an id, see [WithID]. [locks.AttemptRevoke] asks the
// leader of a selector to leave, which its term reports by RevocationRequested.
//
// # Selector or latch
//
// A [LeaderSelector] runs a function while it leads. A [LeaderLatch] stands for election from Start to Close, and the
// program asks it whether it leads. The two do not exclude each other at one path, as in Java: their nodes have
// different names.
//
// # Sharing with Java
//
// A [LeaderSelector] stands in one queue with Java's LeaderSelector, a [LeaderLatch] with Java's LeaderLatch, and they
// list each other. Children that are no nodes of the queue do not block, as they do in Java. The tables of
// examples/porting have every method, and say what differs on purpose.
package leader
