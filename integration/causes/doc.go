// Package causes is a test of explanations: does a client name what really ended its lease? Processes of this library
// hold locks on real servers, something happens to a process or to the servers, and each process prints its loss with
// LostError.Explain.
//
//	CURATOR_INTEGRATION=required go test -C integration ./causes -v                                  # each cause, twice
//	CURATOR_INTEGRATION=required go test -C integration ./causes -v -timeout 0 -args -times 50       # the figures
//
// A loss that names another culprit fails the test, with its evidence. "Unknown" is an answer, for one in twenty.
//
// # The causes
//
//	SIGSTOP                   the process is stopped; it has a term and a registration as well
//	busy loop                 a loop that no scheduler interrupts, with GOMAXPROCS=1 and GODEBUG=asyncpreemptoff=1
//	stall                     runtime.GC stops the world, and one goroutine does not stop
//	frozen follower           SIGSTOP of the server; the client knows no other, or two that refuse
//	no majority               two of three servers are killed
//	slow proposals            all that leader and followers say to each other comes late, by half a session or more
//
// Sessions have 3 s. All causes last longer than that, or until the lease has ended.
//
// Three more are played of which a client may not see enough, and which need no name, only no wrong one:
//
//	crowd of goroutines       hundreds are busy on one processor; the client's clock has its turn, its reader has not
//	CPU quota                 a cgroup has a millisecond of a processor in each second; see below
//	slow proposals, alone     as above, with clients that know one server: it may as well be gone
//
// # What is true
//
// A busy machine stops processes and holds up servers as well. So each loss is judged by what is known without the
// client: when the test began and ended the cause, and when the process did not run, by a goroutine of its own. A
// sentence that says for how long a process did not run is held to them. A loss is not judged, and another one is
// played, if it came before its cause, or if the process paused for half of a session while its servers failed. If it
// paused for an eighth of a session beside the cause, that excuses an unknown cause, and no wrong one. What the
// client says has no other part in that. The output has how many were not judged, and why.
//
// # Throttling
//
// A client reads how long it was throttled from a cgroup of version 2. A quota can be set in version 1 too, and stops
// the process in the same way, but there the sentence cannot say why. The output has the version, and how many
// sentences had the throttling. What a client makes of the files of version 2 is tested on a directory of such files
// (framework/internal/live). Where no test may make a cgroup this part is skipped, and integration/run says so.
package causes
