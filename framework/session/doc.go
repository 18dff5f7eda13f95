// Package session is what recipes stand on: one session with a ZooKeeper ensemble, and everything that belongs to it
// and ends with it. Package framework opens sessions, one after the other, and aliases the names that its users need.
//
// # For authors of recipes
//
// A recipe works in the session that the client's Sessions yields, and begins anew in the next one:
//
//	for s, err := range client.Sessions(ctx) {
//		if err != nil {
//			return err // ctx has ended, the client is closed, or there was no connection to begin with
//		}
//		err = work(ctx, s)
//		if !session.Again(ctx, err) {
//			return err
//		}
//	}
//
// Sessions pauses when rounds end early, and waits out a lost connection. [Again] knows which errors are reasons to
// begin anew, and [Outage] which of them only say that there is no connection; a recipe that keeps such a list of its
// own gets it wrong some day. What goes on in the background for as long as the client lives, such as a count that is
// followed, takes the client's SessionsWhileOpen instead, which no error of the servers ends.
//
//   - A node of a recipe is made by [Session.CreateProtected] and its like, which leave no second one, and removed
//     by [Session.Remove], which goes on until a server has answered. Neither needs the caller to stay.
//   - What must end in time is a [Binding]. The check that the session is valid and the beginning of the binding are
//     one step.
//   - What others do is seen through a [Watch] and [Session.View], or by a [ChildObserver]. A [Waiter] waits:
//     look at the View, decide, wait, and look again. An event may be lost, with the permission to read or by a
//     restored database: so the session reads a watched node again when a wait has lasted, and [Session.ReadAgain] does
//     at once. A [TreeObserver] hears of a node and everything below it, at servers since 3.6.
//   - State of a recipe hangs on the client or on the session, by Attach, not on the process.
//
// # Callbacks
//
// The functions that a recipe gives to a session are called by the goroutine that reads the connection, by the one that
// watches the clock, or by a caller of Bind, Binding.Err, Ready or List that finds the time up. While a callback runs,
// nothing else of the session is heard, and the other bindings of the session wait for their end. So a callback must
// not wait: neither for an answer nor for a lock under which others wait, nor for the user, whom it must not call. It
// should only wake: close a channel, send to one that has room, set a variable. It may queue requests (Remove,
// Unwatch), as a grant does whose node is gone. The tidy function of a Binding runs apart from these; it must not wait
// either.
//
// Paths are absolute, as the client's AbsolutePath returns them. Everything here is safe for concurrent use.
//
// # Inside
//
// Answers and watch events are applied in the order in which they arrive, under one mutex (base.go). A [Session] has
// parts, each with its state, and each knows only those before it: the sender of requests, which knows fences too;
// the validity of leases, with its bindings and the renewal (validity.go, renewal.go); observers; the watches, a state
// machine of their own (framework/internal/watches) for which watching.go sends; removals; orphans, which are nodes
// that a server may create late; and the maker of nodes (maker.go, create_protected.go, create_lost.go). What failed
// once does not stay so: remove_again.go, orphan.go, and ReadLate of the watches. A method whose name ends in Locked
// needs the mutex. Nothing blocks under it: requests are queued, callbacks are called after it is released.
//
// The connection has a goroutine that reads and one that writes. The [Owner] runs one more, the clock (clock.go), and
// applies what happens to the connection (events.go); when leases end is a function of what was heard (lease_clock.go).
// [Events] report to the client; a session knows nothing else of it.
package session
