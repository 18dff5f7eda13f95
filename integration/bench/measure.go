//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/server"
	"github.com/gocurator/curator/integration/bench/stats"
)

const (
	// recorded is how many cycles are written down, by all workers of a process together.
	recorded = 1_000_000

	// startTime is how long all processes take at most to hear of the window before it begins. On a machine so busy
	// that one does not, they get more, up to lastStartTime.
	startTime, lastStartTime = 500 * time.Millisecond, 30 * time.Second

	// patience is how long processes may take to start, and to end, beyond the times of their jobs.
	patience = 3 * time.Minute
)

// errLate says that the machine was so busy that a run is worth nothing.
var errLate = errors.New("a worker heard of the window only after it had begun")

// measure runs a task once, so that all its processes hear of the window in time.
func (b *bench) measure(ctx context.Context, t task) (figures stats.Figures, err error) {
	for start := startTime; ; start *= 4 {
		figures, err = b.measureAfter(ctx, t, start)
		if !errors.Is(err, errLate) || start > lastStartTime {
			return figures, err
		}
	}
}

// measureAfter has the window begin so long after its processes are ready.
func (b *bench) measureAfter(ctx context.Context, t task, startTime time.Duration) (stats.Figures, error) {
	b.runs++
	length := t.workload.Window(b.window)
	ctx, cancel := context.WithTimeout(ctx, patience+b.warmupOf(t)+startTime+length)
	defer cancel()
	s := b.servers[place{t.impl.Server, t.Disk}]
	addr := s.Addr
	if t.Delay > 0 {
		proxies, stop, err := server.DelayAll(s.Addr, t.Delay)
		if err != nil {
			return stats.Figures{}, err
		}
		defer stop()
		addr = proxies
	}
	crew, err := b.hire(t, addr)
	defer crew.kill()
	if err != nil {
		return stats.Figures{}, err
	}
	defer context.AfterFunc(ctx, crew.kill)() // a goroutine that waits for an answer then reads the end of the file

	if err := each(crew, func(c *hand) error { return c.ready() }); err != nil {
		return stats.Figures{}, errors.Join(context.Cause(ctx), err)
	}
	clock := job.NewClock()
	start := clock.Now() + int64(startTime)
	window := job.Window{Start: start, End: start + int64(length)}
	if err := each(crew, func(c *hand) error { return json.NewEncoder(c.Stdin).Encode(window) }); err != nil {
		return stats.Figures{}, err
	}
	time.Sleep(clock.Until(window.Start))
	before := look(crew, s)
	time.Sleep(clock.Until(window.End))
	after := look(crew, s)

	workers := make([][]job.Worker, len(crew))
	if err := each(crew, func(c *hand) (err error) { workers[c.number], err = c.answer(); return err }); err != nil {
		return stats.Figures{}, errors.Join(context.Cause(ctx), err)
	}
	crew.leave()
	var all []job.Worker
	for _, w := range workers {
		all = append(all, w...)
	}
	figures := stats.Of(all, length, t.workload.Rules())
	after.since(before, &figures)
	return figures, errors.Join(before.err, after.err)
}

func (o options) warmupOf(t task) time.Duration {
	switch {
	case t.impl.Language != plan.Java:
		return o.warmup
	case t.workload.Processes > 1: // they compile at the same time
		return o.jvmWarmup * 3 / 2
	default:
		return o.jvmWarmup
	}
}

// A hand is one process of workers.
type hand struct {
	*server.Process

	number  int
	answers *json.Decoder
}

type crew []*hand

// hire starts the processes of a task and sends each its job.
func (b *bench) hire(t task, addr string) (crew, error) {
	var c crew
	line := b.programs.lines[t.impl.Language]
	if t.worker != "" {
		line = []string{t.worker, lockWorker}
	}
	for i := range t.workload.Processes {
		p, err := server.Start(filepath.Join(b.dir, fmt.Sprintf("worker-%d-%d.log", b.runs, i)), true, line[0], line[1:]...)
		if err != nil {
			return c, err
		}
		c = append(c, &hand{p, i, json.NewDecoder(p.Stdout)})
		w := t.workload
		if err := json.NewEncoder(p.Stdin).Encode(job.Job{
			Impl: t.impl.ID, Lock: w.Lock, Server: addr, Path: fmt.Sprintf("/bench/%d", b.runs), Own: w.Own,
			First: i * w.Workers, Workers: w.Workers, Clients: w.Clients, Limit: w.Limit, Hold: w.Hold, Think: w.ThinkTime(i, b.idle),
			Warmup: b.warmupOf(t), Session: b.session, Idle: b.idle, Record: recorded / w.Workers,
		}); err != nil {
			return c, err
		}
	}
	return c, nil
}

// leave lets the processes end, and waits until they have closed their sessions, so that no server ends those while
// something else is measured.
func (c crew) leave() {
	for _, h := range c {
		_ = h.Stdin.Close() // fails only if it is closed
	}
	enough := time.After(30 * time.Second)
	for _, h := range c {
		select {
		case <-h.Exited():
		case <-enough:
			return
		}
	}
}

func (c crew) kill() {
	for _, h := range c {
		h.Kill()
	}
}

// each does something with all processes at the same time.
func each(c crew, do func(*hand) error) error {
	failed := make([]error, len(c))
	var group sync.WaitGroup
	for i, h := range c {
		group.Go(func() { failed[i] = do(h) })
	}
	group.Wait()
	return errors.Join(failed...)
}

func (h *hand) ready() error {
	var r job.Ready
	if err := h.answers.Decode(&r); err != nil {
		return fmt.Errorf("the worker said nothing (%w); it ends with:\n%s", err, h.Log())
	}
	if !r.Ready {
		return errors.New(r.Error)
	}
	return nil
}

func (h *hand) answer() ([]job.Worker, error) {
	var a job.Answer
	if err := h.answers.Decode(&a); err != nil {
		return nil, fmt.Errorf("the worker did not answer (%w); it ends with:\n%s", err, h.Log())
	}
	if a.Late {
		return nil, errLate
	}
	return a.Workers, nil
}
