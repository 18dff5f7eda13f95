// Package nodes keeps a node in ZooKeeper for as long as a program wants it there: a registration that survives what
// ephemeral nodes of a client do not, the end of a session and a removal by hand.
//
//	node := nodes.NewPersistentNode(client, "/services/web/10.0.0.1:80", data)
//	if err := node.Start(ctx); err != nil { // blocks until the node is there
//		return err
//	}
//	defer node.Close() // removes it, if it is still this client's
//
// # What a persistent node promises
//
//   - It is there from the return of Start to Close. When the session ends, the next one creates it again. A node that
//     was deleted by hand is created at once; if that happens again and again, after up to a second each time.
//     [PersistentNode.There], [PersistentNode.OnChange], [PersistentNode.Err] and the log say when it is not there, and
//     why.
//   - A node is this client's if its owner is one of the newest 64 sessions in which this client has kept persistent
//     nodes. All others are strangers', also one with the same data: the program that ran here before, and was killed,
//     leaves a node that the servers remove when its session expires. Start waits for that, a session timeout and a
//     tick at most. A program that took that node for its own would be without one from then on.
//   - The node of a stranger is neither written nor deleted, except with [Overwriting].
//   - A node that is left of this client's last session is replaced in one transaction. There is no moment without one.
//   - Nothing of it remains after Close. What a server executes late is looked for, for four session timeouts, and
//     removed. The answer to the removal may be lost, and a successor may create its node at once: that one stays.
//
// # What is removed
//
// Close, and a Start that fails, remove a node only if it is this PersistentNode's. Each other node stays.
//
//   - An ephemeral node is, if its owner is a session of this client, as above: a client has one PersistentNode at a
//     path ([ErrKept]).
//   - A node that outlives sessions ([WithMode]) names no owner. One with a number is known by the GUID in its name.
//   - One without is this PersistentNode's if a create or a write of it was executed on that node. The answer shows
//     that. Without an answer the node shows it: it has the data that were sent, at the version that the request gives
//     them. A node that had the data before needs no write, and is this PersistentNode's if Start returns nil.
//
// # What no client can promise
//
// A request to ZooKeeper can name the version of a node, and not its owner. So a node is looked at first. If it is
// deleted by hand within that round trip, and a stranger creates one of the same version, then the stranger's is
// deleted, written or replaced. Two programs that use one path cause this in two cases. A node of the client's last
// session goes with that session right before it is replaced, and the other program, which has waited, creates its own.
// Or a connection breaks, and a server executes the request that was sent on it late, when the other program has taken
// the path. A program creates its node again if it was deleted in this way, and waits in turn if it was replaced.
//
// A node that outlives sessions and has no number needs [Overwriting]: whichever node that is not ephemeral is at the
// path gets the data, and Close deletes it. If the answer to a request was lost, and Close or the end of Start follows,
// the node is judged by its data. So one to which another client has given the same data at that version is removed,
// and one that another client has written to since stays. One that this client may not read stays as well, and Close
// says so. A create or a write that a server executes after Close stays.
//
// Curator: PersistentNode, PersistentTtlNode. Package discovery registers services by such nodes.
package nodes
