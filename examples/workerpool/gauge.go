package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A gauge counts who is at work in all processes, and sees if there are too many.
type gauge struct {
	mu      sync.Mutex
	working int
	allowed int
	excess  error
	done    bool
	changed chan struct{}
}

func newGauge(allowed int) *gauge { return &gauge{allowed: allowed, changed: make(chan struct{}, 1)} }

// job is what the workers do.
func (g *gauge) job(context.Context) error {
	g.add(1)
	time.Sleep(30 * time.Millisecond)
	g.add(-1)
	return nil
}

func (g *gauge) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.working += n
	if g.working > g.allowed && n > 0 {
		g.excess = fmt.Errorf("%d at work, %d allowed", g.working, g.allowed)
	}
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

func (g *gauge) allow(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allowed = n
}

// reach waits until exactly n are at work.
func (g *gauge) reach(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		g.mu.Lock()
		working := g.working
		g.mu.Unlock()
		if working == n {
			return nil
		}
		select {
		case <-g.changed:
		case <-ctx.Done():
			return fmt.Errorf("%d at work, want %d: %w", working, n, ctx.Err())
		}
	}
}

// stay lets some jobs be done, and fails if there were too many at once.
func (g *gauge) stay(ctx context.Context) error {
	select {
	case <-time.After(200 * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.excess
}

func (g *gauge) finish() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done = true
}

func (g *gauge) finished() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.done
}
