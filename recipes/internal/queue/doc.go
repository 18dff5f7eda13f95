// Package queue is the engine of the recipes: it decides whose turn it is. A contender creates a node in a directory,
// waits until no node ahead of it conflicts, and gets a grant. Recipes say what a grant means to users; package
// framework/session, until when a session is valid. The life of an acquire: recipes/locks/DESIGN.md.
//
// # The invariant
//
// The contenders of one session in one directory share a view of its nodes. Decisions without a listing rest on this:
//
//	A view that decides about a contender lacks no node ahead of it.
//
// It decides only about contenders whose nodes it has. It may have deleted nodes, which cost a wait. After anything
// that may put a node ahead of a contender, the view does not know, and the contender lists the directory.
//
// # What servers guarantee
//
// By ZooKeeper's source, 3.5 to 3.9:
//
//	S0   An answered write lasts.
//	S1   On a connection, answers and events come in the order of execution. A write is answered when its server
//	     applies it, never after the event of a later transaction.
//	S2   A sequential node's suffix is its parent's count of creations: of any kind of child, also with a given name.
//	     Failed transactions, deletions and the removal of empty containers do not count.
//	S3   Stat.cversion = 2·creations − children. An answer's listing and Stat are of one moment.
//	S4   A session does not go back in zxids that the client has taken from answers and not given up. It takes none
//	     from events (framework/internal/transport/zxid.go). So the next server may list a node whose deletion was
//	     heard of, which costs a wait and never admits. Events only tell of deletions of unique names, which stay
//	     true.
//	S5   When a session moves, servers refuse requests of the old connection. Once a transaction on the new one is
//	     answered, none of them is executed, except those that a server had read and not queued: a stalled thread
//	     executes them late, by less than four session timeouts. A deposed leader answers a sync, but no transaction.
//	     See framework/internal/live/create_lost.go and orphan.go.
//	S6   A deleted directory fires its data watch before anything in its successor is answered.
//	S7   A watch that is set fires while its connection lasts.
//	S8   A server grants the session timeout that it is asked for. The client asks for no more than any server has
//	     granted it (framework/internal/transport/grant.go).
//	end  A counter ends at 2³¹−1. Later numbers are negative or repeated. From 2³⁰ on only listings decide. Newcomers
//	     are refused from 2³¹ − 2¹⁶ on, and with negative numbers.
//
// # When S0, S7 or S8 does not hold
//
//	S0   Broken by forceSync=no and a loss of power, and by releases before 3.9.4 when servers of an ensemble restart
//	     ("Outside this promise" in framework/session/LEASES.md). The holder's node is gone and the next contender is
//	     admitted. The holder hears of that on its next connection, if ever. No client can prevent it, but the store
//	     can refuse the holder, by a check in the same transaction or a fencing token.
//	S7   Broken by an ACL of the watched node or directory that takes READ from the client: since 3.8.4 and 3.9.2 the
//	     server drops the event, and the watch with it. Broken by the admin command restore of 3.9, which swaps the
//	     data under live connections and drops the watches. The net: a wait that has lasted T, the session timeout,
//	     reads again what it watches, then at 2T, 4T and so on (framework/internal/watches/late.go). So a lost event
//	     only costs time, with one exception: if an administrator removes a contender's node, and that event is lost,
//	     the contender is let in, or holds on, beside the next. A wait sets watches without a read only on nodes that
//	     it knows to be readable (ahead.go): on its own by the ACL with which it was created, so that the exception
//	     takes a change of that ACL, or a restore, and on those of others because the client has read one in the
//	     directory. Where their ACLs differ, a wait may lose T/8, and shorter ones may fail, until the client reads
//	     each node that it watches. To find that out, it reads the awaited node after T/16, and at the end of a wait
//	     that failed before.
//	S8   Broken by a maxSessionTimeout or tickTime that is lowered, or lower at one server, to less than the client asks
//	     for. If the handshake that shortens the session is not answered, and the client is then cut off, the next
//	     contender is admitted while the holder goes by the longer timeout. The net: as for S0.
//
// # What changes a view
//
//	a listing is answered            it is that listing, and whole: it lacks no node ahead of any contender
//	our creation gets the next       it gets that node, and is whole: nothing else was created (unlisted.go)
//	number
//	our creation gets another, or    it lacks that node: the contender decides by the listing that comes with the
//	none was known                   creation, or asks for one
//	our creation's answer is lost    it lacks that node: the contender decides by the listing that found it
//	                                 (framework/internal/live/create_lost.go)
//	a deletion is heard of           it loses the node; after a writer's, which may have become a reader of the same
//	                                 number, it decides about readers only, until whole
//	the directory is deleted, and    it stays; no number is next until a listing of the new one
//	perhaps created again
//	the connection is lost           it stays (S4), and admits once the contender's own watch is set on the new one
//	the session gives a zxid up      it is empty, and no number is next: its contenders list the directory
//	the session ends                 it goes too
//
// # The rules
//
// integration/pages/guarantees_table_test.go names the tests of each.
//
//  1. Each session has one table, to which one goroutine applies answers and events in the order of arrival (S1).
//     Channels only wake. The check that the session is valid and the publication of the grant are one step.
//  2. A listing that has the contender's node has every lower number that is left (S2), and decides. A later listing
//     without the node means that it was removed by hand, and the contender queues again. A queue that the session has
//     had to itself for a while is not listed.
//  3. A contender is admitted if a listing, or its view, has its node and no earlier conflicting one. A view admits
//     only while the watch on the contender's node is set and has not fired, because it might otherwise have missed the
//     deletion.
//  4. A contender watches its own node while it waits, a grant off the critical path. A deletion ends the grant, or
//     makes the contender queue again; changed data does not. A node that is known to be unreadable is watched for its
//     existence, or through the directory where servers refuse that as well. Nodes ahead: see ahead.go.
//  5. No watch is proof after a reconnection, when all are set again, or after a long wait (S7).
//  6. A removal is sent before anything that the session asks for later, also after a reconnection (S5). So a released
//     node never blocks the session's own contenders. No listing is corrected by what is known to be leaving, because
//     one from before a downgrade, read after the writer's release, has the writer's node and not yet the reader's. A
//     grant that has ended gives no check.
//  7. A node has at most one server watch of each kind. The last subscriber removes it, unless the node is being
//     deleted, a watch on a tree serves instead, or the server cannot remove watches. A watch that is removed and set
//     at the same time is set last.
package queue
