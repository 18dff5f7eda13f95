package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

const heldHeap = "heap per lock (bytes)"

// settled is when a held lock has the watch on its own node, which is put off for 50 ms.
const settled = 300 * time.Millisecond

// held measures what locks cost the client that holds them.
func held(ctx context.Context, l *lab) ([]*table, error) {
	stages, err := l.stages(ctx)
	if err != nil {
		return []*table{stages}, err
	}
	t := &table{Name: "held", Title: "Locks held by one client", Columns: []string{
		"locks", "acquire (µs per lock, 64 at once)", "cycle of one more lock (µs, p50)", "goroutines per lock", heldHeap,
		"release (µs per lock, 64 at once)",
	}}
	err = l.onServer(ctx, func(r *rig) error {
		return l.grow(t, l.upTo(1, 100_000), func(n int) ([]number, error) { return r.hold(ctx, n) })
	})
	return []*table{stages, t}, err
}

// hold acquires n locks with a client of their own, and lets them go.
func (r *rig) hold(ctx context.Context, n int) (row []number, err error) {
	clients, err := r.open(ctx, 1, r.counted)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(clients)) }()
	client := clients[0]
	extra := locks.NewInterProcessMutex(client, "/scale/extra")
	if _, err := cycles(ctx, extra, 10); err != nil { // buffers are as large as they will be
		return nil, err
	}
	leases := make([]*locks.Lease, n)
	before := r.footprint()
	begun := time.Now()
	if err := acquireAll(ctx, client, leases); err != nil {
		return nil, err
	}
	acquire := time.Since(begun)
	time.Sleep(settled)
	if _, err := client.Exists(ctx, "/"); err != nil { // the watches are answered
		return nil, err
	}
	memory := r.footprint().per(n, before)
	cycle, err := cycles(ctx, extra, 100)
	if err != nil {
		return nil, err
	}
	begun = time.Now()
	if err := releaseAll(ctx, leases); err != nil {
		return nil, err
	}
	release := time.Since(begun)
	per := number(n) * number(time.Microsecond)
	if n < 100 { // a few locks are lost in the noise
		memory.heap = missing
	}
	row = []number{number(n), number(acquire) / per, micros(cycle), memory.goroutines, memory.heap, number(release) / per}
	return row, errors.Join(noneLeft(ctx, client, n), empty(ctx, client, "/scale/extra"))
}

func heldPath(i int) string { return fmt.Sprintf("/scale/held/%06d", i) }

// acquireAll acquires a lock for each lease.
func acquireAll(ctx context.Context, client *framework.Client, leases []*locks.Lease) error {
	return each(ctx, len(leases), func(ctx context.Context, i int) (err error) {
		leases[i], err = locks.NewInterProcessMutex(client, heldPath(i)).Acquire(ctx)
		return err
	})
}

// releaseAll releases them. One that had been lost, or released before, is an error.
func releaseAll(ctx context.Context, leases []*locks.Lease) error {
	return each(ctx, len(leases), func(_ context.Context, i int) error { return leases[i].Release() })
}

func noneLeft(ctx context.Context, client *framework.Client, n int) error {
	return each(ctx, n, func(ctx context.Context, i int) error { return empty(ctx, client, heldPath(i)) })
}
