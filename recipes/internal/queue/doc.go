// Package queue is the engine of the recipes: it decides whose turn it is. A contender creates a node in a queue's
// directory, waits until no node ahead of it conflicts, and gets a grant. Recipes above say what a grant means to
// users; package framework/session below, until when a session is valid.
//
// # The invariant
//
// The contenders of one session in one directory share a view of its nodes. Each decision without a listing rests on
// this:
//
//	A view that decides about a contender lacks no node ahead of it.
//
// It decides only about contenders whose nodes it has. The invariant holds after a listing, and after a creation that
// got the next number: the view is whole then. It may have deleted nodes, which cost a wait. Deletions keep the
// invariant, except a writer's: after that the view decides about readers only, until it is whole again. Whatever else
// may put a node ahead of a contender that the view has, makes the view say "I do not know", so that the contender
// lists the directory:
//
//   - a downgrade: a reader's node follows a writer's, with the same number;
//   - a creation by another session between two of ours, for a contender that has not listed the directory;
//   - another directory of the same name, which counts anew;
//   - a counter near its end, where numbers are no order: nothing is decided without a listing there.
//
// # What servers guarantee
//
// Read in ZooKeeper's source, 3.5 to 3.9:
//
//	S1   On a connection, answers and events come in the order of execution. A write is answered when its server
//	     applies it, never after the event of a later transaction.
//	S2   The suffix of a sequential node is the parent's count of creations: of any kind of child, also with a given
//	     name. Failed transactions, deletions and the removal of empty containers do not count.
//	S3   Stat.cversion = 2·creations − children. The listing and the Stat of one answer are of one moment.
//	S4   A session does not go back in zxids that the client has taken from answers. It takes none from events
//	     (framework/internal/transport/zxid.go). So a server that it reconnects to may be older than an event that it
//	     has heard, and list a node whose deletion was heard of: a further wait, never an admission. Facts from events
//	     are deletions of unique names only, which stay true.
//	S5   When a session moves, servers refuse requests of the old connection. Once a sync on the new connection is
//	     answered, none of them can still be executed, unless a deposed leader answered it.
//	S6   A deleted directory fires its data watch before anything in its successor is answered.
//	end  A counter ends at 2³¹−1. From 3.6 on, concurrent creations there get 2³¹−1, −2³¹, −2³¹+1 …, and then 2³¹−1
//	     again. No order by number survives that: newcomers are refused from 2³¹ − 2¹⁶ on, and with negative numbers.
//
// # What changes a view
//
//	event                                      | the view
//	-------------------------------------------+---------------------------------------------------------------------
//	a listing is answered                      | is that listing; it is whole
//	our creation gets the number that is next  | gets that node, and is whole: nothing else was created (unlisted.go)
//	our creation gets another number, or the   | lacks that node: the contender decides by the listing that comes with
//	next one was unknown                       | the creation, or asks for one
//	the answer to our creation is lost         | lacks that node: the contender decides by the listing that found it
//	                                           | (framework/session/create_lost.go)
//	a deletion is heard of                     | loses the node; after a writer's it decides about readers only, until
//	                                           | it is whole again
//	the directory is deleted, or made anew     | stays; no number is next until a listing of the new one
//	the connection is lost                     | stays (S4); it admits a contender only once the watch on its own node
//	                                           | is set on the new connection
//	the session ends                           | goes with it
//
// # The rules
//
// They follow. Each has tests that fail without it: recipes/locks/guarantees_table_test.go lists them.
//
//  1. One table for each session: one goroutine applies answers and events to it in the order of arrival (S1); channels
//     only wake. The check that the session is valid and the publication of the grant are one step.
//  2. A listing that has the contender's node is later than its creation, so it decides. One that was asked for later
//     and lacks the node means that it was removed by hand: the contender queues again. A queue that the session has
//     had to itself for a while is not listed at all (unlisted.go).
//  3. A contender is admitted if a listing, or its view, has its node and no earlier conflicting one. A view admits
//     only while the watch on the contender's node is set and has not fired: it might have missed the deletion
//     otherwise. After a writer's deletion, a contender that is no reader lists the directory again.
//  4. A contender watches its own node while it waits, and a grant does off the critical path: a deletion ends the
//     grant, or makes the contender queue again; a change of data does not. A node that may not be read is watched for
//     its existence, or by way of the directory where servers refuse that too. Since 3.8.4 and 3.9.2 they do, and send
//     no events of such nodes: a contender that may not read its own node hears neither of its removal nor of a
//     revocation; one whose predecessor's ACL changes during the wait hears of its end on the next connection only.
//  5. After a reconnection no watch is proof: all are set again.
//  6. A removal is sent before anything that the session asks for later, also after a reconnection (S5). So a released
//     node never blocks the session's own contenders, and no listing is corrected by what is known to be leaving. (That
//     would be wrong: a listing from before a downgrade, read after the writer's release, has the writer's node but not
//     yet the reader's.) A grant that has ended gives no check.
//  7. A node has at most one server watch of each kind. The last subscriber to leave takes it off, or leaves it to the
//     node's deletion if that is on its way. There is nothing to take off where a watch on a tree serves for it; it
//     stays at servers that cannot remove watches. A watch that is taken off and set at the same time is set last.
//
// # Which node a contender waits for
//
// A contender with more than one node ahead waits for the next nearest first. Its end says that the contender is
// probably next. Unless the view says so too, it lists the queue while its predecessor still holds the lock. Then it
// waits for that one. So a release and the next admission are one deletion and one event, a round trip, between clients
// too. It costs each waiter a request and an event, and takes a listing off each hand-over. Behind a writer it is of no
// use, since its end needs a listing.
//
// The life of an acquire, with the files: recipes/locks/DESIGN.md.
package queue
