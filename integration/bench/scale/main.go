// Command scale measures how the cost of locks grows with work: with the waiters of one lock, the locks that a client
// holds, the clients, and the delay of the network. It also finds how much fits: fleets of clients that hold ten locks
// each, registrations of one service, caches of one tree, what happens when the server of all of them is killed, and
// how many ephemeral nodes a session may have.
//
//	go run ./scale                                    # everything, on a real ZooKeeper: integration/run gets its jars
//	go run ./scale -server zktest -max 100            # a quick look, with Go alone
//	go run ./scale -series waiters,delay -out results
//	go run ./scale -series storm -server ensemble     # the leader of three servers is killed
//
// It prints tables, and writes them with the conditions they were taken under to scale.json, and figures as SVG, to the
// directory of -out. Every series checks itself: that everybody was admitted exactly once and in order, that caches
// show what was written, and that no node is left. What a check finds is an error, and the exit status 1. Five thousand
// clients take as many file descriptors here and at the server.
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
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// A lab is what a series needs to know.
type lab struct {
	start func(context.Context) (site, error)
	most  int           // bounds what grows
	lasts time.Duration // how long a measurement of throughput goes on
	down  time.Duration // how long a server that is killed stays dead
	log   io.Writer     // for progress
}

// allSeries are in the order in which they run.
var allSeries = []struct {
	name string
	run  func(context.Context, *lab) ([]*table, error)
}{
	{"waiters", waiters},
	{"held", held},
	{"clients", clients},
	{"delay", delays},
	{"fleet", fleets},
	{"registrations", registrations},
	{"caches", followers},
	{"storm", storms},
	{"ephemerals", ephemerals},
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	names := flags.String("series", "waiters,held,clients,delay,fleet,registrations,caches,storm,ephemerals", "which `series`")
	kind := flags.String("server", "zookeeper", "zookeeper, an ensemble of three of them, or zktest in this process: no memory is measured then")
	down := flags.Duration("down", 2*time.Second, "how long a server that is killed stays dead")
	most := flags.Int("max", 100_000, "the greatest `number` of waiters, locks, clients and so on; each series has its own limit, too")
	lasts := flags.Duration("time", 2*time.Second, "how long each measurement of throughput goes on")
	dir := flags.String("out", "", "`directory` for scale.json and the figures; none are written without it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	start, ok := sites[*kind]
	if !ok {
		return fmt.Errorf("there is no server %q", *kind)
	}
	l := &lab{start: start, most: *most, lasts: *lasts, down: *down, log: os.Stderr}
	r := report{Conditions: conditions(*kind, *most, *lasts)}
	err := r.measure(ctx, l, strings.Split(*names, ","))
	return errors.Join(err, r.print(out), r.save(*dir))
}

// measure runs the series. One that fails does not keep the others from running.
func (r *report) measure(ctx context.Context, l *lab, names []string) error {
	var errs []error
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	for _, series := range allSeries {
		if !wanted[series.name] {
			continue
		}
		delete(wanted, series.name)
		tables, err := series.run(ctx, l)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", series.name, err))
		}
		r.Tables = append(r.Tables, tables...)
	}
	for name := range wanted {
		errs = append(errs, fmt.Errorf("there is no series %q", name))
	}
	return errors.Join(errs...)
}

// grow adds a row to a table for each size. The first that fails is the last.
func (l *lab) grow(t *table, sizes []int, measure func(size int) ([]number, error)) error {
	for _, size := range sizes {
		if _, err := fmt.Fprintf(l.log, "%s: %s %d\n", t.Name, t.Columns[0], size); err != nil {
			return err
		}
		row, err := measure(size)
		if err != nil {
			return fmt.Errorf("%s %d: %w", t.Columns[0], size, err)
		}
		t.add(row...)
	}
	return nil
}

// sizes are those up to the limit.
func (l *lab) sizes(all ...int) []int {
	return slices.DeleteFunc(all, func(n int) bool { return n > l.most })
}

// upTo are the powers of ten up to the smaller limit.
func (l *lab) upTo(least, most int) []int {
	var sizes []int
	for n := least; n <= min(most, l.most); n *= 10 {
		sizes = append(sizes, n)
	}
	return sizes
}
