// Package watches decides what a session asks of a server to keep its watches, and whom it wakes. It is a pure state
// machine: it has no lock, sends nothing and reads no clock. Package live calls it under its mutex, sends what
// Requests returns, and calls what Wakes returns after it has released the mutex.
//
// A [Table] has one watch for each [Key], for data and existence, or for the names of the children, of a node. All
// subscriptions to a key share it. The lines below show the watch of one subscription that is not persistent; the last
// three columns, one of SubscribeSince (set.go). The first word is what happens. "!" says that the table asks for a
// read that sets the watch, "x" that it takes the watch off the server, "w" that it wakes the subscription, "l" that it
// does so if the subscription hears of lost connections, "r" that it repeats the request in AskAgain, and "-" that
// nothing changes.
//
//	input       deferred unset     asked     set       changed   checking    gone   refused   setting ending unread
//	Subscribe   asked!   -         -         -         -         -           asked! asked!    asked!  asked! checking!
//	Deferred    -        -         -         -         -         -           asked! asked!    -       -      -
//	SetDeferred asked!   -         -         -         -         -           -      -         -       -      -
//	Found       -        -         set w     -         set w     set w       -      -         unread  gone w -
//	Missing     -        -         gone w    -         gone w    gone w      -      -         asked!  gone w -
//	Denied      -        -         refused w -         refused w refused x w -      -         asked!  gone w -
//	TooLarge    -        -         asked!    -         changed!  changed!    -      -         asked!  gone w -
//	Busy        -        -         unset r   -         unset r   set r       -      -         unset r gone w -
//	Deleted     -        gone w    asked!    gone w    changed!  gone w      - w    gone w    ending  -      gone w
//	Changed     -        asked!    -         changed!  -         changed     -      asked!    asked!  -      changed!
//	ReadAgain   -        checking! -         checking! -         -           gone!  checking! -       -      checking!
//	Removed     gone w   gone w    -         -         -         -           -      -         -       -      -
//	Detached    unset    -         unset     unset l   unset l   unset l     -      -         unset   unset  unset
//	Attached    asked!   asked!    -         -         -         -           -      -         -       -      -
//	Unsubscribe over     over x    over x    over x    over x    over x      over   over      over x  over   over x
//
// The states are these:
//
//   - deferred: no request was made yet. SetDeferred makes it.
//   - unset: the server has no watch, and no request is under way, because there is no connection, the server was busy,
//     or the session is deleting the node.
//   - asked: a request is under way, and nothing is known until its answer.
//   - set: by all that has arrived, the node exists, and the server will report its next change.
//   - changed: as asked, but View still returns what was known before the change.
//   - checking: as set, with a request under way that finds out whether an event was lost.
//   - setting: a request that sets the watch without a read is under way.
//   - ending: as setting, and the event of the deletion has come, before the answer.
//   - unread: as set, but the node was not read. A subscription that knows too little has it read, one of Deferred
//     later.
//   - gone, refused: the view says so. Only a new subscription asks again.
//
// A refusal sets no watch. The one of "checking", from an answer before, is taken off.
//
// TooLarge and Forbidden ask for the existence alone, which needs no right to read. An answer to a request that is not
// the newest changes nothing. A persistent subscription differs in two states: "gone" has a watch at the server, on the
// existence, which a lost connection makes "unset", since the node may be created meanwhile; and it is "refused" where
// the node may not be read. Both it and an attentive one hear of lost connections. A brief one is over when the
// connection is lost, and ReadLate does not read for it.
//
// # Invariants
//
//   - The table makes no request without a connection.
//   - A watch that is asked, changed, checking, setting or ending has exactly one newest request whose answer has not
//     come.
//   - Where View says Current, the server has the watch, or an event of it is on its way, or was lost.
//   - A subscription that is not persistent never sees a node again after it has seen it gone.
//   - A lost connection wakes the subscriptions that hear of it and whose View it changes, and no others.
//   - Only subscriptions of SubscribeSince, whose zxid is not less than the newest change of the node, get a view
//     without Stat and Data.
//   - Once every request is answered and every event has come, each subscription knows what is there; after the last
//     subscription has ended, the server has no watch.
//
// A tree is the watch on a node and all below it (addWatch, since ZooKeeper 3.6). It covers the node, whose data has no
// other watch while it lasts. None is set on a connection until SetTrees says that the server takes trees.
package watches
