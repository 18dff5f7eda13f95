// Package cause answers why a session, or the leases in it, ended: a [Ring] keeps a client's newest events, and [Judge]
// names the cause by them. Both are pure: the caller says when an event was.
//
// A ring belongs to a client and goes with it from session to session. The session at work guards it by its mutex.
// Recording takes no memory: a ring has room for 256 events, some 6 KB in all. An event of a healthy session is a
// renewal or its answer, eight or so in a session timeout; attempts to connect that fail alike are one event, however
// many they are. So the ring has what happened in many session timeouts.
//
// The rule of the judge is that no culprit is better than a wrong one. It looks at the time in which a lease could have
// been renewed and was not, and adds up on what that time was spent: on timers that ran late, on a server that did not
// answer, without a connection. Only what accounts for it is named.
package cause
