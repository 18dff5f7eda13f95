//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/bench/caches"
	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/server"
)

// A cacheBench is a run of "bench cache".
type cacheBench struct {
	cacheOptions

	table    *caches.Table
	dir      string // for what is only needed while it lasts
	server   *server.Server
	client   *framework.Client // the benchmark's own at the server
	programs programs
}

// progress says what is measured next.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// measureCaches runs all that the options want. If it is broken off, it returns what there is.
func measureCaches(ctx context.Context, o cacheOptions) (table *caches.Table, err error) {
	b := &cacheBench{cacheOptions: o, table: &caches.Table{}}
	if b.dir, err = os.MkdirTemp("", "curator-bench-cache-"); err != nil {
		return b.table, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return b.table, errors.Join(b.beside(ctx), b.manyOf(ctx), b.disturbances(ctx))
}

func (b *cacheBench) close() error {
	var failed error
	if b.client != nil {
		_ = b.client.Close() // the server goes as well
	}
	if b.server != nil {
		failed = b.server.Close()
	}
	return errors.Join(failed, os.RemoveAll(b.dir))
}

// serve starts the server unless it runs.
func (b *cacheBench) serve(ctx context.Context) (err error) {
	if b.server != nil {
		return nil
	}
	if b.server, err = server.Run(ctx, server.ZooKeeper, b.memory, server.Options{JVM: []string{"-Xmx1g"}}); err != nil {
		return err
	}
	b.table.Note("ZooKeeper %s", b.server.Version)
	b.client, err = framework.NewClient(b.server.Addr, framework.WithSessionTimeout(b.session), framework.WithLogger(caches.Silent()))
	if err != nil {
		return err
	}
	return b.client.BlockUntilConnected(ctx)
}

func (b *cacheBench) add(size caches.Size, who string, figures caches.Figures) {
	b.table.Costs = append(b.table.Costs, caches.Cost{Size: size, Who: who, Figures: figures})
}

// fills is how often a cache is filled: a JVM is slow at first, and so is a Go program, a little.
func fills(language string) int {
	if language == plan.Python {
		return 1
	}
	return 2
}

// beside measures the caches of the languages side by side. A client that is not installed is left out, and noted.
func (b *cacheBench) beside(ctx context.Context) error {
	var failed []error
	for _, text := range b.nodes.items() {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		tree := caches.Tree("/cache-"+text, n)
		planted := false
		for _, id := range b.impls.items() {
			progress("a cache of %d nodes: %s", n, id)
			impl := plan.Impls[slices.IndexFunc(plan.Impls, func(i plan.Impl) bool { return i.ID == id })]
			err := b.programs.find(b.dir, impl)
			if err == nil {
				err = b.serve(ctx)
			}
			if err == nil && !planted {
				err, planted = caches.Plant(ctx, b.client, tree), true
			}
			var figures caches.Figures
			if err == nil {
				j := job.CacheJob{Server: b.server.Addr, Path: tree[0], Fills: fills(impl.Language), Session: b.session}
				figures, err = caches.Beside(ctx, b.client, j, tree, b.changes, b.dir, b.programs.cache(impl.Language))
			}
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.Is(err, server.ErrMissing):
				b.table.LeaveOut(id, err)
			case err != nil:
				failed = append(failed, fmt.Errorf("%s, %d nodes: %w", id, n, err))
			default:
				b.add(caches.Size{Caches: 1, Nodes: n}, impl.Label+", ZooKeeper", figures)
			}
		}
	}
	return errors.Join(failed...)
}

// manyOf measures many caches on zktest.
func (b *cacheBench) manyOf(ctx context.Context) error {
	for _, text := range b.many.items() {
		size, err := sizeOf(text)
		if err != nil {
			return err
		}
		progress("%v nodes on zktest", size)
		figures, err := caches.Many(ctx, size, b.changes)
		if err != nil {
			return fmt.Errorf("%v on zktest: %w", size, err)
		}
		b.add(size, "this library, one client, zktest", figures)
	}
	return nil
}

// disturbances measures what caches do to a lease.
func (b *cacheBench) disturbances(ctx context.Context) error {
	if b.disturb == "" {
		return nil
	}
	size, err := sizeOf(b.disturb)
	if err != nil {
		return err
	}
	trial := caches.Trial{Size: size, Timeout: b.timeout, Quiet: b.quiet, Cuts: b.cuts}
	var failed []error
	for _, name := range b.at.items() {
		progress("a lease beside %v nodes, %s", size, name)
		site, stop, err := b.site(ctx, name)
		if err == nil {
			var phases []caches.Disturbance
			phases, err = caches.Disturb(ctx, site, trial)
			err = errors.Join(err, stop())
			b.table.Leases = append(b.table.Leases, caches.Phases{Trial: trial, Where: name, Phases: phases})
		}
		switch {
		case errors.Is(err, server.ErrMissing):
			b.table.LeaveOut(name, err)
		case err != nil:
			failed = append(failed, fmt.Errorf("%v at %s: %w", size, name, err))
		}
	}
	return errors.Join(failed...)
}

// site is a server for caches that disturb. stop ends it; the ZooKeeper goes on until close.
func (b *cacheBench) site(ctx context.Context, name string) (site caches.Site, stop func() error, err error) {
	if name == "zktest" {
		srv := zktest.NewServer()
		return caches.Site{Dial: srv.DialContext, Plant: caches.PlantAt(srv)}, srv.Close, nil
	}
	if err := b.serve(ctx); err != nil {
		return site, nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", b.server.Addr)
	}
	plant := func(paths []string) error { return caches.Plant(ctx, b.client, paths) }
	return caches.Site{Dial: dial, Plant: plant}, func() error { return nil }, nil
}

// cache is the command line of a process with a cache, once find has made the one of a process with locks.
func (p *programs) cache(language string) []string {
	line := slices.Clone(p.lines[language])
	last := &line[len(line)-1]
	switch language {
	case plan.Java:
		*last = "CacheBench"
	case plan.Python:
		*last = strings.TrimSuffix(*last, lockScript) + cacheScript
	default:
		*last = cacheWorker
	}
	return line
}
