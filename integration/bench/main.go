//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gocurator/curator/integration/bench/caches"
	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/worker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// command is the whole program. Its first argument may be a word; without it, it measures.
func command(ctx context.Context, args []string) error {
	word := ""
	if len(args) > 0 {
		word = args[0]
	}
	switch word {
	case lockWorker: // the benchmark starts itself like this
		return worker.Main(ctx, os.Stdin, os.Stdout)
	case cacheWorker:
		return caches.Follow(ctx, os.Stdin, os.Stdout)
	case "cache":
		return cacheCommand(ctx, args[1:], os.Stdout)
	case "compare":
		return compare(ctx, args[1:], os.Stdout)
	case "residue":
		return residueCommand(ctx, args[1:], os.Stdout)
	case "report":
		return reportCommand(args[1:])
	case "check":
		if len(args) != 2 {
			return errors.New("usage: check results.json")
		}
		results, err := report.Load(args[1])
		if err != nil {
			return err
		}
		return check(results)
	}
	o, err := parse(args)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	results, err := measureAll(ctx, o)
	if results == nil || len(results.Runs) == 0 {
		if err == nil {
			err = fmt.Errorf("nothing to measure: %v", results.Conditions.Missing)
		}
		return err
	}
	// What there is is written even if the run was broken off.
	err = errors.Join(err, write(results, o.out))
	if _, e := results.Check(os.Stdout); e != nil {
		err = errors.Join(err, e)
	}
	if n := results.Overlaps(); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d holds overlapped", n))
	}
	return err
}

func check(results *report.Results) error {
	missed, err := results.Check(os.Stdout)
	if err == nil && missed > 0 {
		err = fmt.Errorf("%d targets missed", missed)
	}
	return err
}

// options are what can be chosen.
type options struct {
	workloads, impls, delays list
	rounds                   int
	window                   time.Duration
	warmup, jvmWarmup        time.Duration
	session                  time.Duration
	memory, disk, out        string
	idle                     time.Duration
	foreign                  float64
	piece                    *plan.Piece // nil for everything
	build                    bool        // servers that come as source are built
}

func parse(args []string) (options, error) {
	o := options{delays: list{"0s", "2ms"}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Usage = func() {
		_, _ = fmt.Fprint(flags.Output(), measureUsage())
		flags.PrintDefaults()
	}
	piece := flags.String("piece", "", "the `piece` to run; empty for everything")
	flags.Var(&o.workloads, "workloads", "`workloads` to run, separated by commas (default all)")
	flags.Var(&o.impls, "impls", "`clients` to compare, separated by commas (default all)")
	flags.Var(&o.delays, "delays", "`delays` of the network each way, separated by commas")
	flags.IntVar(&o.rounds, "rounds", 5, "rounds; each runs everything once, in another order")
	flags.DurationVar(&o.window, "window", 3*time.Second, "how long each run is measured")
	flags.DurationVar(&o.warmup, "warmup", 500*time.Millisecond, "how long clients warm up before they hear of the window, which is half a second before it")
	flags.DurationVar(&o.jvmWarmup, "jvm-warmup", 4*time.Second, "how long those in Java do; with several JVMs half as long again")
	flags.StringVar(&o.disk, "disk", os.TempDir(), "`directory` on a disk, for the data of further servers; empty for none")
	flags.StringVar(&o.out, "out", "results", "`directory` for the tables, plots and figures")
	flags.DurationVar(&o.idle, "idle", plan.Idle, "how long a retained node stays while no worker wants it, where the client can")
	flags.Float64Var(&o.foreign, "foreign", 0.12, "`share` of the processors that others may use before a run is repeated, twice at most")
	o.serverFlags(flags)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("what is %q? -h lists the flags", flags.Args())
	}
	if *piece != "" {
		p, ok := plan.PieceNamed(*piece)
		if !ok {
			return o, fmt.Errorf("no piece is called %q; -h lists them", *piece)
		}
		o.piece, o.out = &p, filepath.Join(o.out, p.ID)
	}
	return o, nil
}

// serverFlags are those that say how servers are started.
func (o *options) serverFlags(flags *flag.FlagSet) {
	flags.StringVar(&o.memory, "memory", "/dev/shm", "`directory` in memory, for the servers' data")
	flags.DurationVar(&o.session, "session", 10*time.Second, "timeout of sessions")
	flags.BoolVar(&o.build, "build", true, "build the servers of etcd and NATS if they have not been built yet: some minutes, once")
}

// measureUsage lists the pieces.
func measureUsage() string {
	o, err := parse(nil)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString("usage: go run . [flags]\n\nMeasures lock clients side by side. These are its pieces, with the time that each takes on a quiet machine:\n\n")
	all := time.Duration(0)
	for _, p := range plan.Pieces {
		o.piece = &p
		contests, err := o.contests()
		if err != nil {
			return err.Error()
		}
		all += o.estimate(contests)
		fmt.Fprintf(&b, "  -piece %-10s %2.0f min  %s\n", p.ID, o.estimate(contests).Minutes(), p.Says)
	}
	fmt.Fprintf(&b, "  all of them       %2.0f min\n", all.Minutes())
	b.WriteString("\nA piece is written to its own directory below -out. On one commit, run each of them and go run . residue; then make\n" +
		"one page of them:\n\n  go run . report -out results results/*/results.json\n\n")
	return b.String()
}

// A list is a flag of several values. Setting it replaces the default.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(text string) error {
	*l = strings.Split(text, ",")
	return nil
}

// takes reports whether a list names something, or nothing at all.
func (l list) takes(name string) bool {
	return len(l) == 0 || slices.Contains(l, name)
}
