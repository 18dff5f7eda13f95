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
//	for event, err := range workers.Events(ctx) { // begins with what is there
//		…
//	}
//
// # What a cache promises
//
//   - It is a copy of what the servers had a moment ago, not more: a decision that must not be made twice needs a lock.
//     [CuratorCache.Sync] blocks until the cache has every change that was committed before the call.
//   - Get, Children, All and [CuratorCache.Snapshot] read an immutable version. A loop over one holds no lock, and all
//     that it sees is of one moment of the cache.
//   - A stream of events begins with Created for each node that is there, and Synced, and goes on with every
//     difference: a program needs no second call for the beginning, and misses nothing in between. A subscriber that is
//     slow gets the differences of each node merged, so that what waits for it is bounded by the number of nodes.
//   - A parent is Created before its children and Deleted after them. A node that was deleted and created again, even
//     while the client was cut off, is Deleted and Created: nodes are compared by the transactions that made and
//     changed them (czxid, mzxid), not by version.
//   - Stale says that the cache may be behind: the connection is lost. It keeps what it has. Synced comes again after
//     all differences.
//   - A root that does not exist is waited for, and never made.
//   - What no event has reported, since an event was lost or a permission has changed, is found by reading the tree
//     again, one request at a time, over an hour ([WithReadAgain]). It becomes an event like any other, and a warning
//     in the log.
//   - Nodes that may not be read are left out, counted in [Stats], and logged.
//
// A node's Stat is of the moment when the node was read: its Cversion, NumChildren and Pzxid, which children change,
// and its Aversion may be older than those at the server.
//
// Servers since 3.6 report everything below a node by one watch. At older ones, and for a depth of 0, each node has
// watches of its own; there the session sets all of them again when it reconnects.
//
// Curator: CuratorCache, NodeCache, PathChildrenCache, TreeCache.
package cache
