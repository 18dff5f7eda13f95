// Package cause answers why a session, or the leases in it, ended: a [Ring] keeps a client's newest events, and [Judge]
// names the cause by them. Both are pure: the caller says when an event was.
//
// A ring belongs to a client, and the session at work guards it by its mutex. It has room for 256 events, some 6 KB,
// which last for many session timeouts: an event of a healthy session is a renewal or its answer, eight or so in a
// session timeout, and attempts to connect that fail alike are one event.
//
// No culprit is better than a wrong one. The judge cuts the time in which a lease could have been renewed and was not
// into pieces with one state each: the server answered, was silent, or was slow; there was no connection; the process
// did not run, or had perhaps stopped already. It names a cause that has three fifths of the time in which something
// was wrong, if no other can have been it. The sentence sums up the pieces.
package cause
