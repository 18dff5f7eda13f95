// Contention shows a lock at work: several workers, each with a client of its own, contend for one InterProcessMutex.
// They queue in order, hold it, and hand it over.
//
//	go run -C examples ./contention                      # on a server in memory: needs nothing but Go
//	go run -C examples ./contention -crash 3             # worker 3 loses its connection while it holds
//	go run -C examples ./contention -zk zk1:2181 -json   # on real ZooKeeper; run it in several terminals at once
//
// At the end it checks that no two holds overlapped and that the order was first come, first served, and prints what
// each worker had of it. The exit status is 0 if all workers have done their rounds and both were so, 1 if not, and 130
// or 143 if SIGINT or SIGTERM ended it before; it lets go of everything first.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

//go:generate go run . -crash 3 -picture contention.svg

//go:embed main.go
var source string // -h prints the comment at its head

func main() {
	ctx, stop := demo.Signals(context.Background())
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr, isTerminal(os.Stdout))
	stop()
	os.Exit(status)
}

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, terminal bool) int {
	var s settings
	flags := flag.NewFlagSet("contention", flag.ContinueOnError)
	s.flags(flags)
	return demo.Command{Name: "contention", About: demo.Help(source), Run: func(ctx context.Context, out io.Writer) error {
		if err := s.check(); err != nil {
			return &demo.UsageError{Err: err}
		}
		s.terminal = terminal && !s.json
		return play(ctx, s, out, stderr)
	}}.Do(ctx, flags, args, stdout, stderr)
}

// play lets the workers contend, and reports.
func play(ctx context.Context, s settings, out, errs io.Writer) error {
	dial := new(net.Dialer).DialContext
	if s.Servers == "" {
		server := zktest.NewServer()
		defer server.Close() //nolint:errcheck // it returns nil
		s.Servers, s.where, dial = "in-memory:2181", "a server in memory", server.DialContext
	} else {
		s.where = s.Servers
		_, _ = fmt.Fprintf(errs, "contention: connecting to %s\n", s.where)
	}
	r := newReport(out, s)
	workers, err := hire(s, dial, r)
	if err != nil {
		return err
	}
	defer dismiss(workers)
	if err := connect(ctx, workers); err != nil {
		return stopped(ctx, err)
	}
	r.begin()
	err = contend(ctx, workers)
	if wrong := r.finish(ctx.Err() != nil); wrong != nil {
		return wrong
	}
	return stopped(ctx, err)
}

// stopped returns why ctx ended, if it did and so is what err is about.
func stopped(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
