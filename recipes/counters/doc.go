// Package counters has numbers in nodes that any process can read and add to, in the format of Java's: counts, sums,
// and numbers of which each is given out once.
//
//	hits := counters.NewDistributedAtomicLong(client, "/hits")
//	_, n, err := hits.Add(ctx, 1) // blocks until it has counted
//	switch {
//	case errors.Is(err, counters.ErrUnknown):
//		// the answer is lost: it may have counted. Without another Add the count is short by one at most
//	case err != nil:
//		return err // it did not count
//	}
//
// A number is a node with eight bytes ([DistributedAtomicLong]) or four ([DistributedAtomicInteger]), the highest
// first. Without a node, and with empty data, it is 0. Nothing is to be started or closed, and all methods are safe for
// concurrent use.
//
// # What a counter promises
//
//   - An Add counts once or not at all, and says which: it counted if there is no error, and did not count if there is
//     one that is not [ErrUnknown]. A lost answer is no reason for either: the same write is sent again, on the
//     condition that nothing was written since the number was read. So it never counts twice.
//   - ErrUnknown comes after a lost answer, or a ctx that ends during the wait for one. If the write was executed, the
//     node does not prove it: another client that has added the same leaves the same node. If it was not, the second
//     try counts, or a single other write shows that it has come before. A program that has to know counts by a
//     transaction that makes a node of its own as well; see the example of ErrUnknown.
//   - An Add that comes second reads again, after a pause at random, until it has counted or ctx ends. [WithLock] lets
//     those that lose often queue.
//   - The number wraps at 2⁶³, or 2³¹, as Java's and Go's do.
//   - Deleting the node resets the number, and is for a counter at rest. ZooKeeper compares the node's version alone: a
//     write of before passes if the new node has come to the same version. If the write's answer shows that, Add
//     returns ErrUnknown. A try whose answer was lost can be executed late, on the new node.
//
// Each Add is one read and one write, and those of one counter come one after the other, each after a majority of the
// servers has it on disk. A program that counts often sums up in memory, and adds once a second.
//
// Curator: recipes.atomic.
package counters
