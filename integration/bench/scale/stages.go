package main

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// stages measures a lock's way through a short and a long hold: only one that lasts has a watch on its own node.
func (l *lab) stages(ctx context.Context) (*table, error) {
	t := &table{Name: "stages", Title: "What one lock costs at each stage of its hold, 100 of them at once", Columns: []string{
		"held (ms)", heldHeap, "requests to acquire", "requests while held", "requests to release",
		"bytes to acquire", "bytes while held", "bytes to release",
	}}
	return t, l.onServer(ctx, func(r *rig) (err error) {
		clients, err := r.open(ctx, 1, r.counted)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeAll(clients)) }()
		m, err := r.meter(ctx, clients)
		if err != nil {
			return err
		}
		n := min(100, l.most)
		err = l.grow(t, []int{0, int(settled.Milliseconds())}, func(ms int) ([]number, error) {
			return m.stagesOf(ctx, clients[0], n, time.Duration(ms)*time.Millisecond)
		})
		return errors.Join(err, noneLeft(ctx, clients[0], n))
	})
}

// stagesOf is the median of some rounds. In the first, which does not count, the directories are made.
func (m *meter) stagesOf(ctx context.Context, client *framework.Client, n int, lasts time.Duration) ([]number, error) {
	const rounds, tries = 11, 50
	var figures [][]number
	for try := 0; len(figures) < rounds+1 && try < tries; try++ {
		row, err := m.stage(ctx, client, n, lasts)
		if err != nil {
			return nil, err
		}
		if row != nil {
			figures = append(figures, row)
		}
	}
	row := []number{number(lasts) / number(time.Millisecond), missing, missing, missing, missing, missing, missing, missing}
	if len(figures) < 2 {
		return row, nil // too slow for a short hold
	}
	for column := range figures[0] {
		var values []number
		for _, round := range figures[1:] {
			values = append(values, round[column])
		}
		row[column+1] = median(values)
	}
	return row, nil
}

// stage acquires n locks, holds them and lets them go. It is nothing if a short hold became too long.
func (m *meter) stage(ctx context.Context, client *framework.Client, n int, lasts time.Duration) ([]number, error) {
	leases := make([]*locks.Lease, n)
	before := m.rig.footprint()
	if _, err := m.lap(ctx); err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := acquireAll(ctx, client, leases); err != nil {
		return nil, err
	}
	acquire, err := m.lap(ctx)
	if err != nil {
		return nil, err
	}
	time.Sleep(lasts)
	during, err := m.lap(ctx)
	if err != nil {
		return nil, err
	}
	memory := m.rig.footprint().per(n, before)
	short := time.Since(begun) < 45*time.Millisecond
	if err := releaseAll(ctx, leases); err != nil {
		return nil, err
	}
	release, err := m.lap(ctx)
	if err != nil || lasts == 0 && !short {
		return nil, err
	}
	a, d, e := acquire.per(n), during.per(n), release.per(n)
	return []number{memory.heap, a.requests, d.requests, e.requests, a.received, d.received, e.received}, nil
}
