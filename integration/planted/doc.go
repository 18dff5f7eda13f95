// Planted breaks the library on purpose, one bug at a time, and prints which test notices.
//
//	go run -C integration ./planted                       every bug that has no result yet
//	go run -C integration ./planted -only queue/          those whose names match
//	go run -C integration ./planted -again                every bug, beginning with the test that noticed it last time
//	go run -C integration ./planted -list                 the bugs, and the promises that they break
//
// A bug is a piece of text in a file of the directory bugs:
//
//	# name: what is wrong
//	breaks: the promise that does not hold any more
//	file: recipes/internal/queue/decide.go
//	 	for _, n := range nodes {
//	-		if !n.Before(me) || n.Shared && me.Shared {
//	+		if !n.Before(me) {
//
// Lines with a space or "-" in front are what the file has, in exactly one place; those with a space or "+", what the
// compiler sees instead (go help build, -overlay). No file is changed. A bug may have several files. Two more lines may
// stand before the first:
//
//	flags: -race                arguments for go test
//	equivalent: the reason      no test can notice it, and why
//
// For each bug it runs the tests of the package, then those of the packages above that use it, the nearest first, until
// one fails. A test that fails has a name; a bug that only makes tests hang until their time is over is not found. The
// result is written to the directory found at once, so a run that was interrupted goes on where it was. The status is 1
// if a bug was not found, 2 if the arguments are wrong.
//
// The tests of this directory check that each bug is still a bug, that is, its text fits and the package compiles; and
// that each has a result: the name of a test that still exists, or the reason why there can be none.
package main
