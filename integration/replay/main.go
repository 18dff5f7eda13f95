// Replay runs Go tests under numbered schedules. Each of them is exact: the same number gives the same output, byte
// for byte, as long as neither the code nor Go changes.
//
//	replay package [flags] [-- arguments for the test binary]
//
// A test that fails once in a thousand runs fails under some numbers, and under these each time. The same number
// shows the failure again, and shows that a change mends it.
//
// The tests are built for js/wasm, where Go has one thread and takes randomness and time from its host. The host
// here makes both from the number. They decide which case of a select is taken, in which order a map is read, and
// all else that Go leaves to chance. The code stays as it is. But js/wasm has no sockets, no other processes and no
// race detector. Tests in bubbles need none of these (testing/synctest, framework/zktest).
//
// # Simulations
//
// Tests that know the flags -seed, -history and -faults, as TestSimulation of recipes/locks does, get more. A seed
// fixes what their actors and their faults do, and the number fixes all that the seed leaves open. Replay draws the
// history of a failure, with a column for each client. Then it shrinks the failure: it drops faults as long as the
// test still fails under some number. With -seeds it first searches natively, which is faster, for a seed that
// fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes.
const (
	passed = 0
	failed = 1
	unable = 2 // the arguments are wrong, or something is missing
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run executes the command and returns its exit code. All that it starts and all its temporary files end with it.
func run(ctx context.Context, args []string, out, errs io.Writer) (status int) {
	c, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return passed
	}
	if err == nil {
		status, err = replay(ctx, c, out)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		_, _ = fmt.Fprintln(errs, "replay:", err)
		return unable
	}
	return status
}

// replay searches as the arguments say, and reports.
func replay(ctx context.Context, c config, out io.Writer) (status int, err error) {
	dir, err := os.MkdirTemp("", "replay-")
	if err != nil {
		return unable, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := &replayer{config: c, out: out, dir: dir}
	if err := r.prepare(ctx); err != nil {
		return unable, err
	}
	defer r.hosts.close()
	if c.seeds > 0 {
		found, err := r.searchSeeds(ctx)
		if err != nil || !found {
			return passed, err
		}
	}
	first, err := r.search(ctx, r.numbers(), r.faults)
	switch {
	case err != nil:
		return unable, err
	case first == nil && c.seeds > 0:
		r.printf("under the schedules %s the seed passes; more (-schedules) may find one that fails\n", r.numbers())
		return failed, nil
	case first == nil:
		r.printf("passed under the schedules %s\n", r.numbers())
		return passed, nil
	}
	if err := r.narrow(ctx, &first); err != nil {
		return unable, err
	}
	r.report(first)
	return failed, r.reportShrunk(ctx, first)
}
