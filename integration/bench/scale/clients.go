package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

const cyclesPerSecond = "cycles/s, each its own lock"

// clients measures many clients with one worker each: all on locks of their own, and all on one.
func clients(ctx context.Context, l *lab) ([]*table, error) {
	t := &table{Name: "clients", Title: "Clients, each with its own session and one worker", Columns: []string{
		"clients", "heap per client (bytes)", "stack per client (bytes)", "goroutines per client", cyclesPerSecond,
		"one lock: cycles/s", handOverTime, "hand-over (µs, p99)",
	}}
	err := l.onServer(ctx, func(r *rig) error {
		return l.grow(t, l.upTo(1, 1000), func(n int) ([]number, error) { return r.crowd(ctx, n, l.lasts) })
	})
	return []*table{t}, err
}

func (r *rig) crowd(ctx context.Context, n int, lasts time.Duration) (row []number, err error) {
	before := r.footprint()
	all, err := r.open(ctx, n, r.direct)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(all)) }()
	mutexes := make([]*locks.InterProcessMutex, n)
	err = each(ctx, n, func(ctx context.Context, i int) error {
		mutexes[i] = locks.NewInterProcessMutex(all[i], fmt.Sprintf("/scale/own-%d", i))
		_, err := cycles(ctx, mutexes[i], 1) // with its directory, and with buffers as large as they will be
		return err
	})
	if err != nil {
		return nil, err
	}
	memory := r.footprint().per(n, before)
	rate, err := throughput(ctx, mutexes, lasts)
	if err != nil {
		return nil, err
	}
	one, err := contest(ctx, all, fmt.Sprintf("/scale/one-%d", n), 0, stopAfter(lasts))
	if err != nil {
		return nil, err
	}
	for i, client := range all {
		err = errors.Join(err, empty(ctx, client, fmt.Sprintf("/scale/own-%d", i)))
	}
	return []number{
		number(n), memory.heap, memory.stack, memory.goroutines, rate, one.rate(), micros(one.handOvers), percentile99(one.handOvers),
	}, err
}

// throughput is how many cycles a second all of them do together, each one at least.
func throughput(ctx context.Context, mutexes []*locks.InterProcessMutex, lasts time.Duration) (number, error) {
	var done atomic.Int64
	begun := time.Now()
	err := every(ctx, len(mutexes), func(ctx context.Context, i int) error {
		for {
			if _, err := cycles(ctx, mutexes[i], 1); err != nil {
				return err
			}
			done.Add(1)
			if time.Since(begun) > lasts {
				return nil
			}
		}
	})
	return number(done.Load()) / number(time.Since(begun).Seconds()), err
}

// stopAfter is the end of a contest by time. A rate takes two grants.
func stopAfter(d time.Duration) func(time.Time, int) bool {
	return func(begun time.Time, grants int) bool { return grants > 1 && time.Since(begun) > d }
}
