//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/server"
)

// A bench has what is needed to measure: servers, and programs that take locks.
type bench struct {
	options

	dir      string // for what is only needed while it lasts
	servers  map[place]*server.Server
	programs programs
	results  *report.Results
	runs     int // so far, for fresh paths
}

// A place is where a server's data lies.
type place struct {
	kind string
	disk bool
}

// tries is how often a run is made at most, until others use little of the processors.
const tries = 3

// measureAll runs everything that the options want. If it is broken off, it returns what there is.
func measureAll(ctx context.Context, o options) (results *report.Results, err error) {
	contests, err := o.contests()
	if err != nil {
		return nil, err
	}
	b, err := newBench(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.prepare(ctx, order(contests, 0)); err != nil {
		return nil, err
	}
	begun, done, all := time.Now(), 0, 0
	for _, contest := range contests {
		all += len(contest) * o.rounds
	}
	fmt.Fprintf(os.Stderr, "%d runs, %v if none is repeated\n", all, o.estimate(contests).Round(time.Second))
	for round := range o.rounds {
		for _, t := range order(contests, round) {
			done++
			if _, missing := b.results.Conditions.Missing[t.impl.ID]; missing {
				continue
			}
			run := b.run(ctx, round, t)
			if ctx.Err() != nil {
				return b.results, ctx.Err()
			}
			b.results.Runs = append(b.results.Runs, run)
			left := time.Duration(float64(time.Since(begun)) / float64(done) * float64(all-done)).Round(time.Second)
			fmt.Fprintf(os.Stderr, "%d/%d, %v left: %s\n", done, all, left, describe(run))
		}
	}
	return b.results, nil
}

// newBench returns a bench that has to be closed.
func newBench(ctx context.Context, o options) (*bench, error) {
	dir, err := os.MkdirTemp("", "curator-bench-")
	if err != nil {
		return nil, err
	}
	return &bench{
		options: o, dir: dir, servers: make(map[place]*server.Server),
		results: &report.Results{Conditions: conditions(ctx, o)},
	}, nil
}

// prepare finds the programs and starts the servers that the tasks need. What is not installed is noted.
func (b *bench) prepare(ctx context.Context, tasks []task) error {
	for _, t := range tasks {
		if _, missing := b.results.Conditions.Missing[t.impl.ID]; missing {
			continue
		}
		err := b.programs.find(b.dir, t.impl)
		if err == nil {
			err = b.serve(ctx, place{t.impl.Server, t.Disk})
		}
		switch {
		case errors.Is(err, server.ErrMissing):
			b.results.Conditions.Missing[t.impl.ID] = err.Error()
		case err != nil:
			return err
		}
	}
	maps.Copy(b.results.Conditions.Versions, b.programs.versions)
	for at, s := range b.servers {
		b.results.Conditions.Versions[at.kind+" server"] = s.Version
		if at.kind == server.ZooKeeper { // its compiler, too, takes some seconds
			if err := b.warm(ctx, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// serve starts a server where there is none yet.
func (b *bench) serve(ctx context.Context, at place) error {
	if b.servers[at] != nil {
		return nil
	}
	dir := b.memory
	if at.disk {
		dir = b.disk
	}
	memory, err := server.InMemory(dir)
	if err != nil {
		return err
	}
	if memory == at.disk {
		return fmt.Errorf("-memory %s and -disk %s: they have to be what they say", b.memory, b.disk)
	}
	s, err := server.Run(ctx, at.kind, dir, server.Options{Built: !b.build})
	if err == nil {
		b.servers[at] = s
	}
	return err
}

// warm keeps a server busy until it is as quick as it gets.
func (b *bench) warm(ctx context.Context, at place) error {
	w, _ := plan.Named("own16")
	i, _ := plan.Client(plan.Floor)
	if err := b.programs.find(b.dir, i); err != nil {
		return err
	}
	_, err := b.measure(ctx, task{Case: report.Case{Workload: w.ID, Disk: at.disk}, workload: w, impl: i})
	return err
}

// run measures until others use little of the processors, or have used too much for too often.
func (b *bench) run(ctx context.Context, round int, t task) report.Run {
	run := report.Run{Case: t.Case, Round: round, Impl: t.impl.ID}
	for try := 1; try <= tries; try++ {
		figures, err := b.measure(ctx, t)
		if err != nil {
			run.Failed = err.Error()
			return run
		}
		figures.Tries = try
		run.Figures = figures
		if figures.Foreign <= b.foreign || t.Disk { // the kernel's work for a disk belongs to no process
			break
		}
	}
	return run
}

func describe(r report.Run) string {
	if r.Failed != "" {
		return fmt.Sprintf("round %d, %s, %s: FAILED: %s", r.Round+1, r.Case, r.Impl, r.Failed)
	}
	f := r.Figures
	text := fmt.Sprintf("round %d, %s, %s: %.0f/s, foreign %.0f %%", r.Round+1, r.Case, r.Impl, f.Rate, 100*f.Foreign)
	if f.HandOverP50 > 0 {
		text += fmt.Sprintf(", hand-over p50 %.0f µs", f.HandOverP50)
	}
	if f.Errors+int64(f.Overlaps) > 0 {
		text += fmt.Sprintf(", %d ERRORS, %d OVERLAPS", f.Errors, f.Overlaps)
	}
	return text
}

func (b *bench) close() error {
	var failed error
	for _, s := range b.servers {
		failed = errors.Join(failed, s.Close())
	}
	return errors.Join(failed, os.RemoveAll(b.dir))
}
