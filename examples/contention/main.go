// Contention shows a lock at work: several workers, each with a client of its own, contend for one InterProcessMutex. They
// queue in order, hold it, and hand it over.
//
//	go run ./examples/contention                      # on a server in memory: needs nothing but Go
//	go run ./examples/contention -crash 3             # worker 3 loses its connection while it holds
//	go run ./examples/contention -zk zk1:2181 -json   # on real ZooKeeper; run it in several terminals at once
//
// At the end it checks that no two holds overlapped and that the order was first come, first served. If not, its exit status
// is 1. An interrupt lets go of everything, and then checks what there was.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"os/signal"

	"github.com/gocurator/curator/framework/zktest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program on the spot
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	r := newReport(stdout, s)
	dial := new(net.Dialer).DialContext
	if s.connect == "" {
		server := zktest.NewServer()
		defer server.Close() //nolint:errcheck // it returns nil
		s.connect, dial = "in-memory:2181", server.DialContext
	}
	workers, err := hire(s, dial, r)
	if err != nil {
		say(stderr, "contention: -zk: %v\n", err)
		return 2
	}
	defer dismiss(workers)
	r.begin()
	err = contend(ctx, workers)
	if interrupted := ctx.Err() != nil; err == nil || interrupted {
		err = r.finish(interrupted)
	}
	if err != nil {
		say(stderr, "contention: %v\n", err)
		return 1
	}
	return 0
}
