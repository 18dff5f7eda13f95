// Package soak loads the whole library on three real servers, and checks that nothing is left of it.
//
//	CURATOR_INTEGRATION=required go test -C integration ./soak                       twenty seconds, in every run
//	CURATOR_INTEGRATION=required go test -C integration ./soak -timeout 2h -args \
//		-for 60m -report /tmp/soak.txt -picture /tmp/soak.svg                 an hour
//
// # The load
//
// Four clients have 27 actors each, which take one step after the other: locks of all kinds that are held, re-entered,
// tried, given up, downgraded, revoked and retained, a semaphore whose limit changes, both elections, caches of a tree
// that changes, loops that watch, persistent nodes, registrations, numbers, and clients that connect and leave.
// Meanwhile links are reset, sessions are ended at a server, and the servers are restarted in turn. A step returns or
// releases all that it has made. What every client has from the beginning to the end is a cache, a followed count and a
// persistent node.
//
// # What is judged
//
// From time to time the load stands still between two steps. Then these counts must come to exactly what they were
// before the load began, within a minute, in which servers remove what is empty and what belonged to sessions of
// clients that were cut off while they left:
//
//	goroutines and descriptors of the process
//	watches, sessions, nodes and ephemeral nodes at the servers
//
// A failure names the count, and what there is more of: stacks, files, watched paths, nodes. When all clients are
// closed, the counts must be those from before there was one. Each actor takes a step that does not fail between two
// moments, the caches must have the tree, and a number must be the sum of what was added.
//
// Memory is judged in a long run alone, after garbage collection, by medians: that of the last quarter of the moments
// may exceed that of the second by 5 % and 0.1 MB for the heap in use, and by 5 % and 1 MB for resident memory. The
// first quarter is left out, in which tables and pools reach their size.
//
// # An hour
//
// On two processors that other work kept busy (a load average of 15 to 75), with Go 1.26.8 and ZooKeeper 3.9.5: 212,772
// steps, 182 resets, 182 ended sessions, 91 restarts; 364 s of processor time without the servers'. At all 91 moments
// there were 180 goroutines, 63 descriptors, 12 watches, 4 sessions, 26 nodes, 4 of them ephemeral. Medians of the
// quarters: heap in use 1.20, 1.25, 1.26 and 1.30 MB; resident memory 18.5, 19.4, 19.0 and 19.2 MB. In that hour the
// first settled moment was the measure of the counts, and not the time before the load.
//
// A profile of each allocation in six busier minutes names one thing that grows in the library: a client that keeps
// persistent nodes remembers the id of each session in which it has kept some, about a hundred bytes.
package soak
