// Testrun runs go test, prints what it says as go test would without -json, repeats what may be chance, and sums it up
// in files for integration/run.
//
//	testrun [-v] -dir directory -list file [-silence duration] [-most n] packages [-- flags for go test]
//
// # What may be chance
//
// A test fails by a wait if its first failure begins with "timed out waiting for ", as those of framework/zktest/await
// do, and all that it says after that names this one. Such a test may have met a machine that was too slow. It is
// repeated alone, three times, when all other tests have ended; if it passes each time, the run has not failed. Then
// its failure is printed with "passed only when repeated", and the list gets an entry. A test that is in the list gets
// no repeats, nor does any test if more than -most of them failed by a wait.
//
// Everything else fails the run: a wrong value, a data race, a panic, a test that never ended, a package that failed
// without a test.
//
// Packages in which no test failed, or only by a wait, but Go's runtime died (golang.org/issue/78156), are tried again
// as a whole, up to three times, on one processor, where it has hardly been seen to die.
//
// # What else it watches
//
// A stall: testrun sleeps for 10 ms, again and again, and looks at the clock. If half a second or more has passed, it
// prints which tests ran, and says it beside those that failed.
//
// A test binary that hangs: if a package has printed nothing for -silence after a failure, its processes are sent
// SIGQUIT, which prints all stacks and ends them. A message of a test that has not ended may be a failure or a log;
// after that it takes three times as long. A -silence of 0 is never too long.
//
// # Files
//
// In the directory it appends to these files, none of which need exist:
//
//	failures   the lines that matter, of each package that failed
//	repeated   tests that passed only when repeated, with their first output
//	crashed    packages in which Go's runtime died, one on each line, as often as it did
//	slowest    seconds, package and name of each test, one on each line
//	stalls     how long the machine stalled, when, and which tests ran, one on each line
//
// Its status is 1 if anything failed, and 2 if the arguments are wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// registering is the argument with which go test starts this program as -exec.
const registering = "register"

func main() {
	if len(os.Args) > 3 && os.Args[1] == registering {
		fmt.Fprintln(os.Stderr, "testrun:", register(os.Args[2], os.Args[3:]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

func run(ctx context.Context, args []string, out, errs io.Writer) (status int) {
	flags := flag.NewFlagSet("testrun", flag.ContinueOnError)
	flags.SetOutput(errs)
	verbose := flags.Bool("v", false, "print the output of tests that pass, too")
	dir := flags.String("dir", "", "where the files are, a directory that exists")
	list := flags.String("list", "", "the file that lists tests which passed only when repeated")
	silence := flags.Duration("silence", 10*time.Minute, "how long a test binary may print nothing after a failure")
	most := flags.Int("most", 8, "how many tests may fail by a wait and are repeated")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *dir == "" || *list == "" {
		return refuse(errs, errors.New("-dir and -list are needed"))
	}
	listed, err := readList(*list)
	if err != nil {
		return refuse(errs, err)
	}
	packages, forTests := flags.Args(), []string(nil)
	if i := slices.Index(packages, "--"); i >= 0 {
		packages, forTests = packages[:i], packages[i+1:]
	}
	r := &runner{
		report: newReport(out, *verbose), test: goTest(*dir, *silence), packages: packages, flags: forTests,
		most: *most, list: *list, listed: listed, now: time.Now,
	}
	ctx, end := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchStalls(ctx, r.report.recordStall)
	}()
	err = r.run(ctx)
	end()
	<-watched
	if saved := r.report.save(*dir); err == nil {
		err = saved
	}
	if err != nil {
		refuse(errs, err)
		return 1
	}
	if r.report.hasFailed() {
		return 1
	}
	return 0
}

// refuse prints an error, and returns the status for wrong arguments.
func refuse(errs io.Writer, err error) (status int) {
	_, _ = fmt.Fprintln(errs, "testrun:", err)
	return 2
}
