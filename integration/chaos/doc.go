// Package chaos is a test of everything at a time: three real servers, processes of this library, of Java Curator and
// of kazoo, and caches that follow what they write, under faults that one seed draws.
//
//	CURATOR_INTEGRATION=required go test -C integration ./chaos -v                   # 30 seconds of faults
//	CURATOR_INTEGRATION=required go test -C integration ./chaos -v -timeout 0 -args \
//		-for 60m -seed 7 -picture run.svg -json run.json                           # rounds of five minutes
//
// The schedule depends on the seed alone. The rest is as the machine has it: a seed repeats the faults, not the run.
// After each window of faults all heals, and then every lock is acquired again, by any language, and every
// registration is there; the time of that is the time to service.
//
// # What is proven
//
// The judge is what most servers have in their logs: one order of all writes, each with its zxid. Holders of this
// library write in the name of their leases (integration/interop/godriver/store.go).
//
//  1. A write under the lease's check was executed while the lease's node was there and no node that excludes it was
//     ahead. So a hold that wrote at its begin and at its end had the lock at all zxids from one to the other. No two
//     such intervals overlap that exclude each other; of a semaphore, never more than its limit.
//  2. The store that takes no write with an older fencing token than its newest never refuses a holder whose lease is
//     valid when the answer is there, and its tokens never fall in the log.
//  3. A write without any condition may be executed late, while another node is first. Its lease had ended before.
//  4. A holder begins no write after its lease has ended: it reads CLOCK_MONOTONIC before it looks at the lease.
//  5. Each lease ends before its node is removed, and so before another contender's node is first: by the holder's
//     clock and the millisecond of the log, read on one machine. Killed processes report no end; fences bound them.
//  6. The journals of our clients, merged with the log, break no rule of journaltest.Check: each decision, listing and
//     grant.
//  7. Each event of a cache is a state that the log has, in its order, and in the end the cache is what the log says.
//  8. At the end no node of a contender is left, no orphan, no registration.
//
// What cannot be proven: holds of the other languages are counted, and are judged only as nodes in the queue. They hear
// of no loss, and may work on beside the next holder; see package interop. A hold of ours whose begin or end was not
// answered is proven for the shorter time. Times of hand-over are those of drivers, not of servers.
//
// Where other software stops all service for half a minute, the test starts it again, as an operator would, and the
// report says how often:
//
//   - A process of another language may have left a node behind in a session that goes on. This library never may.
//   - Servers may find no leader although all is healed. A server of 3.9.5 that has cut its log back still has what it
//     cut in memory. Then it refuses what its leader sends ("cached out of order"), and its next leader's as well.
//
// Such a window has no time to service. A restart of all servers gives every client a new connection, so these windows
// do not show that our clients would have come back without it.
//
// A server of 3.9.5 that is killed while it joins a leader may refuse to start on what it has written. The other two
// serve; after the window the test repairs it ([zookeeper.Member.Repair]) and counts that.
package chaos
