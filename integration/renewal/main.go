//go:build unix

// Command renewal measures what it costs an ensemble that many clients hold locks: by syncs, which the leader answers
// alone, and by transactions, which a majority writes down.
//
//	go run -C integration ./renewal                      # 1,000 holders, T = 40 s and 5 s, data on disk and in memory
//	go run -C integration ./renewal -holders 5000 -rounds 5 -timeouts 10s -disk /var/lib/zookeeper
//
// It starts three servers with a tick of 2 s, which write to the disk before they answer (forceSync), for each place of
// the data. Two groups of clients connect, one for each way of renewal. In each round every group holds in turn, each
// client a lock of its own, and then neither; meanwhile 384 writers keep the ensemble as busy as they can. So all
// windows of a round are measured under the same conditions, on a machine with other work, too. The writers compete
// with the servers for processors, and make the share of the renewals seem greater than it is where writers have
// machines of their own.
//
// With servers of version 3.9.5 on two processors with other work, medians of three windows [least .. most]; the writes
// are those with no group holding:
//
//	T     data         renewals/s         writes/s                  share
//	40 s  on disk      100 [100 .. 100]   10975 [ 8490 .. 11443]    0.9 %
//	40 s  in memory     96 [ 92 .. 100]    9860 [ 7087 .. 13965]    1.0 %
//	 5 s  on disk      854 [802 .. 881]    9138 [ 7729 ..  9896]    9.3 %
//	 5 s  in memory    839 [791 .. 884]   11801 [10988 .. 13771]    7.1 %
//
// Needs what the tests on real servers need: see .github/CONTRIBUTING.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/integration/zookeeper"
)

// A plan is what is measured.
type plan struct {
	holders, rounds int
	window          time.Duration
	timeouts        []time.Duration
	places          []place
}

// A place is where the servers keep their data.
type place struct{ name, dir string }

func main() {
	p := plan{}
	flag.IntVar(&p.holders, "holders", 1000, "how many clients hold a lock of their own")
	flag.IntVar(&p.rounds, "rounds", 3, "how often each window is measured")
	flag.DurationVar(&p.window, "window", 10*time.Second, "how long each window is")
	timeouts := flag.String("timeouts", "40s,5s", "session timeouts, with commas; from 4s to 60s")
	disk := flag.String("disk", os.TempDir(), "a directory on the disk that the servers are to use; empty leaves it out")
	memory := flag.String("memory", "/dev/shm", "a directory in memory; empty leaves it out")
	flag.Parse()
	err := p.parse(*timeouts, *disk, *memory)
	if err == nil {
		err = p.runUntilInterrupted()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (p *plan) runUntilInterrupted() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return p.run(ctx)
}

func (p *plan) parse(timeouts, disk, memory string) error {
	if p.holders < 1 || p.rounds < 1 || p.window <= 0 {
		return errors.New("holders, rounds and window must be positive")
	}
	for text := range strings.SplitSeq(timeouts, ",") {
		d, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		p.timeouts = append(p.timeouts, d)
	}
	for _, at := range []place{{"disk", disk}, {"memory", memory}} {
		if at.dir != "" {
			p.places = append(p.places, at)
		}
	}
	return nil
}

func (p *plan) run(ctx context.Context) error {
	for _, at := range p.places {
		for _, timeout := range p.timeouts {
			r, err := p.measure(ctx, at, timeout)
			if err != nil {
				return fmt.Errorf("data on %s, sessions of %v: %w", at.name, timeout, err)
			}
			fmt.Printf("data on %s (%s, %v for an fsync), %d holders, sessions of %v, medians of %d windows of %v [least .. most]\n%s\n",
				at.name, at.dir, r.fsync.Round(time.Microsecond), p.holders, timeout, p.rounds, p.window, r)
		}
	}
	return nil
}

// measure measures one place and one session timeout on an ensemble of its own.
func (p *plan) measure(ctx context.Context, at place, timeout time.Duration) (*result, error) {
	dir, err := os.MkdirTemp(at.dir, "curator-renewal-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fsync, err := timeFsync(dir)
	if err != nil {
		return nil, err
	}
	e, err := zookeeper.NewEnsemble(dir, zookeeper.EnsembleConfig{Direct: true, Config: zookeeper.Config{
		TickTime: 2 * time.Second,
		Properties: map[string]string{
			"forceSync": "yes", "preAllocSize": "65536", "snapCount": "1000000",
		},
		JavaOptions: []string{"-Xmx512m", "-XX:TieredStopAtLevel=4"},
	}}, complaints{})
	if err != nil {
		return nil, err
	}
	defer e.Close()

	w, err := newWriters(e)
	if err != nil {
		return nil, err
	}
	defer w.close()
	groups, err := connectGroups(ctx, e, p.holders, timeout)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, g := range groups {
			g.close()
		}
	}()
	w.keepBusy(ctx, 3*p.window) // until the servers' code is compiled
	r := &result{rows: map[string]*row{}, fsync: fsync}
	all := append(slices.Clone(groups), &group{name: noHolder})
	for range p.rounds {
		all = append(all[1:], all[0]) // no group is always the first
		for _, g := range all {
			if err := p.measureGroup(ctx, e, g, w, timeout, r.row(g.name)); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// measureGroup measures one window while a group holds, and counts what its renewals write.
func (p *plan) measureGroup(ctx context.Context, e *zookeeper.Ensemble, g *group, w *writers, timeout time.Duration, r *row) error {
	if err := g.acquire(ctx); err != nil {
		return err
	}
	if g.name != noHolder {
		time.Sleep(timeout / 4)
		before, begun := newest(e), time.Now()
		time.Sleep(max(p.window, timeout/2)) // two renewals of each client at least
		r.renewals = append(r.renewals, float64(newest(e)-before)/time.Since(begun).Seconds())
	}
	r.writes = append(r.writes, w.keepBusy(ctx, p.window))
	r.lost += g.lost()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return g.release()
}

// complaints prints what goes wrong.
type complaints struct{}

func (complaints) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
