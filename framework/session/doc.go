// Package session is the interface that recipes use: one session with a ZooKeeper ensemble, and everything that ends
// with it. framework/internal/live implements it. Package framework opens sessions, one after the other, and aliases
// the names that its users need.
//
// # For authors of recipes
//
// The example of this package is a whole recipe. A recipe works in the session that the client's Sessions yields, and
// starts again in the next one:
//
//	for s, err := range client.Sessions(ctx) {
//		if err != nil {
//			return err // ctx has ended, the client is closed, or there was no connection to begin with
//		}
//		err = work(ctx, s)
//		if !session.ShouldStartOver(ctx, err) {
//			return err
//		}
//	}
//	return nil // not reached: the loop ends with an error, or by work
//
// Sessions pauses when rounds end early, and waits out a lost connection. [ShouldStartOver] knows which errors are
// reasons to start again, and [Outage] which of them only say that there is no connection. A recipe that keeps such a
// list itself gets it wrong some day. Background work that lasts as long as the client uses the client's
// SessionsWhileOpen, which no error of the servers ends.
//
//   - [Nodes.CreateProtected] and its like create a recipe's ephemeral nodes, and leave no second one. [Nodes.Remove]
//     removes one, and goes on until a server has answered. Neither needs the caller to stay. Nodes that outlive the
//     session, such as the mark that a barrier is open, are the client's, whose paths begin after chroot and namespace.
//   - What must end in time is a [Binding]. The check that the session is valid and the beginning of the binding are
//     one step.
//   - A [Watch] and its [Watch.View], or a [ChildObserver], show what others do. With a [Waiter], look at the View,
//     decide, wait, and look again. An event may be lost, with the permission to read or by a restored database, so the
//     session reads a watched node again after a while, and [Watch.ReadAgain] does so now. A [TreeObserver] hears of a
//     node and everything below it, at servers since 3.6.
//   - [Reads.ReadMany] reads the data, the Stats or the children of many nodes, and delays no renewal.
//   - Package framework/listen calls functions of the recipe's users.
//   - State of a recipe hangs on the client or on the session, by [Attach], not on the process.
//
// # Callbacks
//
// A recipe's functions are called by the goroutine that reads the connection, by the one that watches the clock, or by
// a caller of Bind, Binding.Err, BlockUntilValid or List that finds the time up; TreeObserver.Refused also by the one
// that asks whether the server watches trees. While a callback runs, nothing else of the session is heard, and its
// other bindings wait for their end. So a callback must not wait for an answer, or for a lock under which others wait,
// or call the user. It should only wake: close a channel, send to one that has room, set a variable. It may queue
// requests (Remove, Stop). The cleanup function of a Binding runs apart from these, and must not wait either.
//
// Paths are absolute, as the client's AbsolutePath returns them. Everything here is safe for concurrent use.
//
// Curator has no such package. Its recipes work on the client, through one session after the other.
package session
