// Package causes is a test of explanations: does a client name what really ended its lease? Processes of this library
// hold locks on real servers, something happens to a process or to the servers, and each process prints its loss with
// LostError.Explain.
//
//	CURATOR_INTEGRATION=required go test ./integration/causes -v                                  # each cause, twice
//	CURATOR_INTEGRATION=required go test ./integration/causes -v -timeout 0 -args -times 50       # the figures
//
// A loss that names another culprit fails the test, with its evidence. "Unknown" is an answer, for one in twenty.
//
// # What is true
//
// A busy machine stops processes and holds up servers as well. So each loss is judged by what is known without the
// client: when the test stopped something and for how long, and the stretches in which the process did not run, by a
// goroutine of its own. A loss that came before its cause, or that two causes share, is not judged and is played again.
// What the client says has no part in that.
package causes
