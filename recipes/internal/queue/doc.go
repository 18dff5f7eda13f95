// Package queue is the engine of the recipes: it decides whose turn it is. A contender creates a node in the directory
// of a queue, waits until no node ahead of it conflicts, and gets a grant. What a grant means to users (leases, owners,
// traces) is for the recipes above; what a session is and until when it is valid, for package framework/session below.
//
// # The invariant
//
// The contenders of one session in one directory share a view of its nodes. Everything that is decided without asking
// the servers rests on one sentence:
//
//	A view has every node that stands ahead of any of its contenders.
//
// A view is whole when no node ahead of any of its contenders can be missing: after a listing, or after a creation that
// got the next number. It may have nodes that are gone; that costs a wait, and never the lock. Facts only take nodes out of a view. Whatever
// may put one in, ahead of a contender that the view has, makes the view say "I do not know", so that the contender
// lists the directory:
//
//   - a downgrade: a writer's node is followed by a reader's with the same number;
//   - a creation by another session between two of ours, for a contender that has not listed the directory;
//   - another directory of the same name, whose numbers begin anew;
//   - a counter near its end, where numbers are no order. There nothing is decided without a listing.
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
//	S4   A session does not go back in zxids. Before 3.9 an event carries no zxid. So after a reconnection, a server
//	     that is behind may list a node whose deletion was heard of: one wait more, never an admission. Facts from
//	     events are deletions of unique names only, which stay true.
//	S5   When a session moves to another server, nothing that it sent on the old connection is executed any more; nor
//	     after a sync on the new connection is answered, unless a deposed leader answered it.
//	S6   A directory that is deleted fires its data watch before anything in its successor is answered.
//	end  A counter ends at 2³¹−1. From 3.6 on, concurrent creations there get 2³¹−1, −2³¹, −2³¹+1 …, and then 2³¹−1
//	     again. No order by number survives that: newcomers are refused from 2³¹ − 2¹⁶ on, and with negative numbers.
//
// # What changes a view
//
//	event                                       | the view
//	--------------------------------------------+--------------------------------------------------------------------------
//	a listing is answered                       | is that listing; it is whole
//	a node of ours is created, and its number   | gets that node, and is whole: nothing else was created since, no
//	is the one that was known to be next        | downgraded reader either (unlisted.go has the proof)
//	a node of ours is created with another      | is as it was: it does not have the node, so the contender decides by the
//	number, or none was known                   | listing that comes with the creation, or asks for one
//	a deletion is heard of, by an event or an   | loses the node; if it was a writer's, the view does not know any more who
//	answer                                      | is ahead of a contender that is no reader, until it is whole again
//	the directory is deleted, or made anew      | is as it was; no number is next until a listing of the new one
//	the connection is lost                      | is as it was (S4); but no contender is admitted by it before the watch on
//	                                            | its own node is set on the new connection
//	the session ends                            | goes with it
//
// # The rules
//
// They follow. Each has tests that fail without it: recipes/locks/guarantees_table_test.go lists them.
//
//  1. One table: answers and watch events are applied in the order in which they arrived (S1), by one goroutine, to one
//     table per session; channels only wake. The check that the session is valid and the publication of the grant are
//     one step.
//  2. A listing of the session that contains the contender's node is later than its creation, so it decides. One that
//     was asked for after the answered creation and lacks the node means that the node was removed by hand: the
//     contender queues again. A queue that the session has had to itself for a while is not listed at all (S1, S2,
//     S3, S6; unlisted.go).
//  3. A contender is admitted if a listing has its node and no earlier conflicting one; or if its view says the same.
//     For that, the watch on its own node must be set and must not have fired: the view does not hear of its deletion
//     otherwise. And if a writer's node was deleted since the view was whole, a contender that must have the lock alone
//     lists the directory again.
//  4. A contender watches its own node while it waits, and a grant off the critical path: its deletion ends the grant,
//     or has the contender queue again. A change of its data is no deletion. A node that may not be read is watched for
//     its existence, or, where the server refuses that as well, by way of the directory. Servers since 3.8.4 and 3.9.2
//     do refuse it, and tell a client nothing of a node that it may not read. So a contender that may not read its own
//     node hears neither of its removal nor of a revocation; and one that waits for a node whose ACL is changed
//     meanwhile hears of its end on the next connection only.
//  5. After a reconnection no watch is proof: all are set again.
//  6. A removal is on its way before anything that the session asks for later, also after a reconnection (S5). A node
//     that was released therefore never stands in the way of the session's own contenders, and no listing needs to be
//     corrected by what is known to be leaving. (That would be wrong: a listing from before a downgrade, looked at
//     after the writer's release, has the writer's node but not yet the reader's.) A grant that has ended can be used
//     for no check.
//  7. There is at most one server watch per node and kind; the last subscriber to leave takes it off. A watch that is
//     taken off and set again at the same time is set last.
//
// # Which node a contender waits for
//
// A contender with more than one node ahead waits for the next nearest of them first. The end of that one says that the
// contender is most likely next; it lists the queue again while its predecessor still holds the lock, and then waits
// for the predecessor. So a release and the next admission are one deletion and one event, a round trip, for contenders
// of different clients as well. It costs each of them one request and one event more than to wait for the nearest from
// the start, and takes a listing off the way from one holder to the next. Behind a writer that does not help, since its
// end needs a listing in any case.
//
// # Where what stands
//
//	node.go         names: markers, numbers, the end of the counter
//	decide.go       the rule: nodes in, decision out
//	view.go         the view: facts in, decisions out
//	shared_view.go  one view for the contenders of a session; entering the queue
//	unlisted.go     leaving the listing out, with its proof; nothing else needs it
//	contender.go    one acquire: enter, wait, be admitted or leave
//	grant.go        what an admitted contender has; grant_end.go: how it ends
//	hold.go         holds over one grant, one after the other
//	beside.go       a writer that becomes a reader
//	demand.go       hearing of contenders that a grant keeps waiting
//	queue.go        Acquire and Try; config.go: what a recipe says of its queue
//	registry.go     what the queues of one client have in common; refusal.go: directories whose counters have ended
//	late.go         waits that are long
package queue
