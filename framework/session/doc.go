// Package session is what recipes stand on: one session with a ZooKeeper ensemble, and everything that belongs to it
// and ends with it. It says what a [Session] promises, and has no part in how that is kept: framework/internal/live
// does. Package framework opens sessions, one after the other, and aliases the names that its users need.
//
// # For authors of recipes
//
// The example of this package is a whole recipe, in fifty lines. A recipe works in the session that the client's
// Sessions yields, and starts again in the next one:
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
// reasons to start again, and [Outage] which of them only say that there is no connection; a recipe that keeps such a
// list of its own gets it wrong some day. What goes on in the background for as long as the client lives, such as a
// count that is followed, takes the client's SessionsWhileOpen instead, which no error of the servers ends.
//
//   - A node of a recipe is made by [Nodes.CreateProtected] and its like, which leave no second one, and removed
//     by [Nodes.Remove], which goes on until a server has answered. Neither needs the caller to stay. It is ephemeral.
//     What outlives its session, such as the mark that a barrier is open, is made and deleted by the client, whose
//     paths begin after chroot and namespace.
//   - What must end in time is a [Binding]. The check that the session is valid and the beginning of the binding are
//     one step.
//   - What others do is seen through a [Watch] and [Watch.View], or by a [ChildObserver]. A [Waiter] waits:
//     look at the View, decide, wait, and look again. An event may be lost, with the permission to read or by a
//     restored database: so the session reads a watched node again when a wait has lasted, and [Watch.ReadAgain] does
//     so now. A [TreeObserver] hears of a node and everything below it, at servers since 3.6.
//   - Many nodes, their data, their Stats or their children, are read by [Reads.ReadMany], which delays no renewal.
//   - Functions of the recipe's users are called through package listen of the framework.
//   - State of a recipe hangs on the client or on the session, by [Attach], not on the process.
//
// # Callbacks
//
// The functions that a recipe gives to a session are called by the goroutine that reads the connection, by the one that
// watches the clock, by a caller of Bind, Binding.Err, BlockUntilValid or List that finds the time up, or, for
// TreeObserver.Refused, by the one that asks whether the server watches trees. While a callback runs, nothing else of
// the session is heard, and the other bindings of the session wait for their end. So a callback must not wait: neither
// for an answer nor for a lock under which others wait, nor for the user, whom it must not call. It should only wake:
// close a channel, send to one that has room, set a variable. It may queue requests (Remove, Stop), as a grant does
// whose node is gone. The cleanup function of a Binding runs apart from these; it must not wait either.
//
// Paths are absolute, as the client's AbsolutePath returns them. Everything here is safe for concurrent use.
//
// Curator has no such package: there recipes work on the client, through one session after the other.
package session
