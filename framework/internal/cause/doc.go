// Package cause answers why a session, or the leases in it, ended: a [Ring] keeps a client's newest events, and [Judge]
// names the cause by them. Both are pure: the caller says when an event was.
//
// A ring belongs to a client and goes with it from session to session. The session at work guards it by its mutex.
// Recording takes no memory: a ring has room for 256 events, some 6 KB in all. An event of a healthy session is a
// renewal or its answer, eight or so in a session timeout; attempts to connect that fail alike are one event, however
// many they are. So the ring has what happened in many session timeouts.
//
// The rule of the judge is that no culprit is better than a wrong one. It cuts the time in which a lease could have
// been renewed and was not into pieces, of which each has one state: the server answered, was silent, or was slow;
// there was no connection; the process did not run, or had perhaps stopped already. A cause is named that has three
// fifths of the time in which something was wrong, if no other can have been it, and the sentence has what the pieces
// add up to.
package cause
