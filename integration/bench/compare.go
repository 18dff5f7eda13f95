//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/server"
)

// comparison are the settings of "bench compare".
type comparison struct {
	options

	base, head string  // commits; an empty head is the working tree
	least      float64 // what the interval of the ratio has to reach
}

func parseComparison(args []string) (comparison, error) {
	c := comparison{options: options{
		workloads: list{"uncontended", "own16", "one16", "mp4"}, delays: list{"0s"}, impls: list{plan.Ours}, idle: plan.Idle,
	}}
	flags := flag.NewFlagSet("bench compare", flag.ContinueOnError)
	flags.StringVar(&c.base, "base", "", "`commit` to compare with")
	flags.StringVar(&c.head, "head", "", "`commit` to compare (default the working tree)")
	flags.Float64Var(&c.least, "least", 0.97, "`ratio` of acquisitions that the interval has to reach")
	flags.Var(&c.workloads, "workloads", "`workloads` to run, separated by commas")
	flags.Var(&c.delays, "delays", "`delays` of the network each way, separated by commas")
	flags.IntVar(&c.rounds, "rounds", 10, "rounds; each runs every workload with both, and who begins changes")
	flags.DurationVar(&c.window, "window", 3*time.Second, "how long each run is measured")
	flags.DurationVar(&c.warmup, "warmup", time.Second, "how long clients warm up before that")
	flags.DurationVar(&c.session, "session", 10*time.Second, "timeout of sessions")
	flags.StringVar(&c.memory, "memory", "/dev/shm", "`directory` in memory, for the server's data")
	flags.Float64Var(&c.foreign, "foreign", 0.12, "`share` of the processors that others may use before a run is repeated, twice at most")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if c.base == "" || flags.NArg() > 0 {
		return c, errors.New("usage: compare -base commit [flags]; -h lists them")
	}
	if c.rounds < 2 {
		return c, fmt.Errorf("-rounds %d: an interval needs two", c.rounds)
	}
	return c, nil
}

// compare measures two versions, writes the table, and fails if the newer one is too slow.
func compare(ctx context.Context, args []string, out io.Writer) error {
	c, err := parseComparison(args)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	results, err := c.measure(ctx)
	if err != nil {
		return err
	}
	slow, err := results.Compare(out, c.least)
	for _, run := range results.Runs {
		if run.Failed != "" || run.Figures.Overlaps > 0 || run.Figures.Errors > 0 {
			err = errors.Join(err, errors.New(describe(run)))
		}
	}
	if len(slow) > 0 {
		err = errors.Join(err, fmt.Errorf("the ratio does not reach %.2f in: %v", c.least, slow))
	}
	return err
}

// measure builds both workers and runs the rounds on one server.
func (c comparison) measure(ctx context.Context) (results *report.Results, err error) {
	contests, err := c.contests()
	if err != nil {
		return nil, err
	}
	b, err := newBench(ctx, c.options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	workers := make(map[string]string)
	for _, v := range []struct{ version, revision string }{{report.Base, c.base}, {report.Head, c.head}} {
		if workers[v.version], err = build(ctx, v.revision, filepath.Join(b.dir, v.version)); err != nil {
			return nil, fmt.Errorf("%s: %w", v.version, err)
		}
	}
	at := place{kind: server.ZooKeeper}
	if err := b.serve(ctx, at); err != nil {
		return nil, err
	}
	if err := b.warm(ctx, at); err != nil {
		return nil, err
	}
	for round := range c.rounds {
		for _, t := range order(contests, round) {
			for _, version := range turns(round) {
				t.worker = workers[version]
				run := b.run(ctx, round, t)
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				run.Impl = version
				b.results.Runs = append(b.results.Runs, run)
				fmt.Fprintln(os.Stderr, describe(run))
			}
		}
	}
	return b.results, nil
}

// turns are the versions in the order of a round. Who begins changes: what drifts, such as a machine that gets warm,
// then favours both.
func turns(round int) []string {
	if round%2 == 0 {
		return []string{report.Base, report.Head}
	}
	return []string{report.Head, report.Base}
}
