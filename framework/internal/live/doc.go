// Package live runs a session: what recipes call of it, and what it promises them, is in package framework/session. The
// client alone has a [Runner].
//
// Answers and watch events are applied in the order in which they arrive, under one mutex (base.go). A [Session] has
// parts, each with its state, and each knows only those before it: the sender of requests, which knows fences too;
// the validity of leases, with its bindings and the renewal (validity.go, renewal.go); observers; the watches, a state
// machine of their own (framework/internal/watches) for which watching.go sends; the queue of all ReadManys
// (read_queue.go, read_window.go), each of which has a loop of its own (read_many.go); removals; orphans, which are
// nodes that a server may create late; and the maker of nodes (maker.go, create_protected.go, create_lost.go). What
// failed once does not stay so: remove_again.go, orphan.go, and ReadLate of the watches. A method whose name ends in
// Locked needs the mutex. Nothing blocks under it: requests are queued, callbacks are called after it is released.
//
// The connection has a goroutine that reads and one that writes. The [Runner] runs one more, the clock (clock.go), and
// applies what happens to the connection (events.go). When leases end is a function of what was heard (lease_clock.go);
// framework/session/LEASES.md says why. [Events] report to the client; a session knows nothing else of it.
package live
