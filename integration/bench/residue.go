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

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/report"
	"github.com/gocurator/curator/integration/bench/server"
	"github.com/gocurator/curator/integration/bench/worker"
)

const residueUsage = `usage: go run . residue [flags]

Measures what acquires leave behind whose contexts end: nodes, keys or locks. Each acquire is of a lock of its own, and
its context ends after 50 to 300 µs. The client whose contexts end stays connected. Another client looks at the locks
then, until all are free, for a second at most. Once the locks are free, and once that other client holds them while
the contexts end. Clients whose acquires take no context are left out.

`

// A residueOrder is the settings of "bench residue".
type residueOrder struct {
	options

	ends int
}

func parseResidue(args []string) (residueOrder, error) {
	var o residueOrder
	flags := flag.NewFlagSet("bench residue", flag.ContinueOnError)
	flags.Usage = func() {
		_, _ = fmt.Fprint(flags.Output(), residueUsage)
		flags.PrintDefaults()
	}
	flags.Var(&o.impls, "impls", "`clients` to measure, separated by commas (default all)")
	flags.IntVar(&o.ends, "ends", 400, "contexts that end, of each client, both with free locks and with locks that are held")
	flags.StringVar(&o.out, "out", filepath.Join("results", "residue"), "`directory` for the table")
	flags.DurationVar(&o.idle, "idle", plan.Idle, "how long a retained node stays while no worker wants it, where the client can")
	o.serverFlags(flags)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.ends < 1 {
		return o, errors.New("usage: residue [flags]; -h lists them")
	}
	for _, id := range o.impls {
		if i, ok := plan.Client(id); !ok || !i.Ends {
			return o, fmt.Errorf("no client whose acquires take a context is called %q", id)
		}
	}
	return o, nil
}

// residueCommand is "bench residue". It fails if this library leaves anything.
func residueCommand(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseResidue(args)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	results, err := measureResidues(ctx, o)
	if results == nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	err = errors.Join(err, write(results, o.out), results.Table(out))
	for _, r := range results.Residue {
		if r.Failed != "" {
			err = errors.Join(err, fmt.Errorf("%s: %s", r.Impl, r.Failed))
		}
		if r.Impl == plan.Ours && r.Found.Left > 0 {
			err = errors.Join(err, fmt.Errorf("%s left %d locks of %d", r.Impl, r.Found.Left, r.Found.Ended))
		}
	}
	return err
}

// measureResidues starts each client's server. If it is broken off, it returns what there is.
func measureResidues(ctx context.Context, o residueOrder) (results *report.Results, err error) {
	b, err := newBench(ctx, o.options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	for n, impl := range plan.Impls {
		if !impl.Ends || !o.impls.takes(impl.ID) {
			continue
		}
		at := place{kind: impl.Server}
		if err := b.serve(ctx, at); errors.Is(err, server.ErrMissing) {
			b.results.Conditions.Missing[impl.ID] = err.Error()
			continue
		} else if err != nil {
			return b.results, err
		}
		s := b.servers[at]
		b.results.Conditions.Versions[at.kind+" server"] = s.Version
		for _, contended := range []bool{false, true} {
			r := report.Residue{Impl: impl.ID, Contended: contended}
			r.Found, err = worker.MeasureResidue(ctx, job.Job{
				Impl: impl.ID, Server: s.Addr, Path: fmt.Sprintf("/residue/%d-%t", n, contended), Session: o.session, Idle: o.idle,
			}, o.ends, contended)
			if ctx.Err() != nil {
				return b.results, context.Cause(ctx)
			}
			if err != nil {
				r.Failed = err.Error()
			}
			b.results.Residue = append(b.results.Residue, r)
			fmt.Fprintf(os.Stderr, "%s, contended %t: %+v %s\n", r.Impl, r.Contended, r.Found, r.Failed)
		}
	}
	return b.results, nil
}
