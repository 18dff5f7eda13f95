package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// A worker is one contender, with a client and a connection of its own, as if it were another process.
type worker struct {
	number int
	settings
	line   *demo.Line
	client *framework.Client
	report *report
	ahead  string        // the node that it waited for last
	traced chan struct{} // receives the end of each acquire; has room for all
}

// hire makes the workers. It fails if a client cannot be made as the settings say.
func hire(s settings, dial func(ctx context.Context, network, address string) (net.Conn, error), r *report) (workers []*worker, err error) {
	options, err := s.Options()
	if err != nil {
		return nil, err
	}
	for n := range s.workers {
		w := &worker{number: n + 1, settings: s, line: demo.NewLine(dial), report: r, traced: make(chan struct{}, s.rounds)}
		w.client, err = framework.NewClient(s.Servers, append(slices.Clone(options),
			framework.WithSessionTimeout(s.session), framework.WithDialer(w.line.DialContext),
			framework.WithStateListener(func(now framework.StateChange) { r.state(w.number, now.State) }))...)
		if err != nil {
			dismiss(workers)
			return nil, &demo.UsageError{Err: fmt.Errorf("-zk: %w", err)}
		}
		workers = append(workers, w)
	}
	return workers, nil
}

// dismiss closes the workers' clients.
func dismiss(workers []*worker) {
	for _, w := range workers {
		_ = w.client.Close() // if the worker is cut off, its session ends by its timeout
	}
}

// connect waits until all workers are connected.
func connect(ctx context.Context, workers []*worker) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range workers {
		group.Go(func() error {
			_, err := w.client.Session(ctx)
			return err
		})
	}
	return group.Wait()
}

// contend lets all workers contend at once. It returns when they have done their rounds, when one of them has failed,
// or when ctx is done.
func contend(ctx context.Context, workers []*worker) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range workers {
		group.Go(func() error { return w.work(ctx) })
	}
	return group.Wait()
}

// work takes the lock once in each round.
func (w *worker) work(ctx context.Context) error {
	mutex := locks.NewInterProcessMutex(w.client, w.path, locks.WithTrace(locks.Trace{
		Waiting:    w.waiting,
		AcquireEnd: func(context.Context, locks.AcquireEnd) { w.traced <- struct{}{} },
	}))
	for range w.rounds {
		w.ahead = ""
		begun := time.Now()
		w.report.came(w.number)
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		waited := time.Since(begun)
		select {
		case <-w.traced: // the trace runs on another goroutine; by now it has recorded whom this worker waited for
		case <-ctx.Done():
		}
		w.report.acquired(w.number, lease, w.ahead, waited)
		if w.hold(ctx, lease); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if w.crash == w.number {
			return nil
		}
	}
	return nil
}

func (w *worker) waiting(_ context.Context, waiting locks.Waiting) {
	w.ahead = waiting.Predecessor
	w.report.waiting(w.number, waiting)
}

// hold does what the lock is for: here, nothing for a while. It returns when the lease has ended.
func (w *worker) hold(ctx context.Context, lease *locks.Lease) {
	timer := time.NewTimer(w.settings.hold)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-lease.Done():
	}
	if w.crash == w.number && ctx.Err() == nil {
		w.loseConnection(ctx, lease)
	}
	now := time.Now() // before the look and before the Release, so no other worker can hold the lock yet
	if err := lease.Err(); err != nil {
		w.report.lost(w.number, lease, now, err)
		return
	}
	w.report.released(w.number, lease, now)
	if err := lease.Release(); err != nil && !errors.Is(err, locks.ErrLeaseLost) {
		w.report.note(w.number, err.Error()) // its node goes in the background
	}
}

// loseConnection cuts the worker off and waits for the end of its lease. No server reports that end: the lease goes by
// the client's own clock.
func (w *worker) loseConnection(ctx context.Context, lease *locks.Lease) {
	w.report.cut(w.number)
	w.line.Cut()
	select {
	case <-lease.Done():
	case <-ctx.Done():
		_ = w.client.Close() // ends the lease; a Release would wait for an answer that cannot come
	}
}
