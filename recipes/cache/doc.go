// Package cache keeps a copy of a part of ZooKeeper's tree up to date: a node, a directory, or everything below a node.
// Programs read it without asking a server, and hear of each difference.
//
//	workers := cache.NewCuratorCache(client, "/workers", cache.WithDepth(1))
//	if err := workers.Start(ctx); err != nil { // blocks until it has everything
//		return err
//	}
//	defer workers.Close()
//	for node := range workers.Children("/workers") {
//		use(node.Path, node.Data)
//	}
//	for event, err := range workers.Events(ctx) { // begins with what is there; OnEvent calls a function instead
//		…
//	}
//
// Paths are those of the client, without its chroot and namespace, and a [Node] has its whole path.
//
// # What a cache promises
//
//   - It shows what the servers had a moment ago. What only one process may do needs a lock, and a write that depends
//     on what was read needs the node's version. [CuratorCache.Sync] blocks until the cache has every change that was
//     committed before the call.
//   - Get, Children, All and [CuratorCache.Snapshot] read an immutable version. A loop over one holds no lock, and all
//     that it sees is of one moment of the cache.
//   - A stream of events begins with Created for each node that is there, and Synced, and goes on with every
//     difference: a program needs no second call for the beginning, and misses nothing in between. A slow subscriber
//     gets the differences of each node merged, so that the number of nodes bounds what waits for it.
//   - A parent is Created before its children and Deleted after them. A node that was deleted and created again, even
//     while the client was cut off, is Deleted and Created: the cache compares the transactions that made and changed a
//     node (czxid, mzxid), not its version.
//   - Stale says that the cache may be behind, mostly since the connection is lost. The cache keeps what it has. When
//     it has caught up, it yields all differences, and then Synced.
//   - Synced means that nothing is missing. If a node or a listing is longer than framework.WithMaxResponse, the cache
//     is Stale, and [CuratorCache.Err] says why. It follows the rest, and tries again within a minute.
//   - A cache waits for a root that does not exist, and never makes it.
//   - It reads the tree again over an hour, one request at a time ([WithReadAgain]), and so finds what no event has
//     reported: an event was lost, or a permission has changed. That becomes an event like any other, and a warning in
//     the log.
//   - It leaves out nodes below the root that it may not read, with everything below them, counts them in [Stats], and
//     logs them. [WithFilter] leaves out nodes without asking for them.
//
// A node's Stat is of the moment when the cache read the node. Cversion, NumChildren and Pzxid, which change with the
// node's children, and Aversion may be older than those at the server.
//
// Servers since 3.6 report everything below a node by one watch. At older ones, and for a depth of 0, each node has
// watches of its own. They are set, a few at a time, by the requests that read the nodes.
//
// Curator: CuratorCache, NodeCache, PathChildrenCache, TreeCache.
package cache
