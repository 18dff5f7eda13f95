// Package model explores every state that contenders, servers and connections of a small world can reach, and checks
// each. The contenders call the pure parts of package queue: the rule, the view, the numbers of unlisted.go, the
// decision by a listing, what a wait is for. The rest, what is sent when, is written down here once more, in few lines.
//
// Wrong is a state with two grants that conflict; a grant on a node that was never the first in its directory, by the
// leader's own history; a holder that will not hear that its node was removed by hand; and a state from which no clean
// end, with everything released and no node left, can be reached without faults. Two grants may overlap if one's node
// was removed by hand, until its client hears of it.
//
// A watch is what framework/internal/watches promises: it fires while its connection lasts (S7), in the order of
// execution (S1). A lease is an assumption as well, switched off by LeaseFirst: the client's clock ends it before the
// servers end the session.
//
// # What does not hold, and what is found
//
//	Rule1                the session is checked first, the grant published later    two grants
//	Rule2                a listing without the contender's node decides             out of turn
//	Rule3                a view admits without the watch on the own node            out of turn
//	Rule4                a holder does not watch its node                           not heard of
//	Rule5                watches are not set again                                  stuck
//	Rule5Again, S7       an event is lost, and nothing is read again                stuck
//	Rule6                removals are not repeated                                  stuck
//	Rule6Listing         a listing is corrected by what is leaving                  out of turn
//	Rule7                one subscriber takes a shared watch off                    stuck
//	S0                   the newest creation is lost                                two grants
//	S1                   events pass answers and each other                         out of turn
//	S2                   numbers are those of the nodes that are there              two grants
//	S3                   creations are miscounted by one                            nothing
//	S4                   a client connects to a server that is behind it            out of turn
//	S5                   a create is executed after the last look                   stuck
//	S6                   the end of a directory is not heard of                     out of turn
//	S7                   an event is lost, and the node removed by hand             out of turn
//	CounterEnd           contenders enter beyond the last number                    two grants
//	LeaseFirst           the session ends before the lease                          two grants
//	NewName              a create is repeated under its name                        stuck
//	Looks                nothing looks for creates that were lost                   stuck
//	LimitInOrder         the limit is older than the listing                        out of turn
//	Czxid                the watched directory need not be the listed one           out of turn
//
// Safety does not need S3: a node that gets the number after the session's greatest has no other before it that the
// view lacks, by S2 alone. A wrong count costs a listing. Nor does safety care which of the nodes ahead a contender
// waits for: after the wait it decides again, by a listing or by a view that lacks none of them.
//
// Not every order of steps is explored: isAlone and isNext leave out what makes no difference. A test explores worlds
// without them, too. The same nodes come and go, the same grants begin and end in the same orders, the same is wrong,
// and the last states are the same.
//
// # Not in it
//
// Retained locks, re-entry, several leases at a time, sessions that end by Close, zxids that are given up, the view's
// end after a second without contenders, and the listing before a try, which only saves requests.
package model
