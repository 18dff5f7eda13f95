package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gocurator/curator/recipes/shared"
)

// A gauge counts who is at work in all processes, and sees if there are too many.
type gauge struct {
	mu      sync.Mutex
	changed *sync.Cond // anything of what follows
	working int
	allowed int
	wanted  int // so many workers stay at work; 0: each leaves when it is done
	excess  error
	done    bool
	limits  []*shared.SharedCount // for each process, the limit as it knows it
	asked   []int                 // for each worker: how often it has asked for a lease
}

func newGauge(allowed int) *gauge {
	g := &gauge{allowed: allowed}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// follow lets the gauge know when a process hears of a new limit.
func (g *gauge) follow(limit *shared.SharedCount) (stop func()) {
	g.update(func() { g.limits = append(g.limits, limit) })
	return limit.OnChange(func(int32) { g.update(func() {}) })
}

// hire returns what a worker calls whenever it is about to ask for a lease.
func (g *gauge) hire() (asks func()) {
	number := 0
	g.update(func() {
		number = len(g.asked)
		g.asked = append(g.asked, 0)
	})
	return func() { g.update(func() { g.asked[number]++ }) }
}

// job is what the workers do.
func (g *gauge) job(context.Context) error {
	g.update(func() {
		if g.working++; g.working > g.allowed {
			g.excess = fmt.Errorf("%d at work, %d allowed", g.working, g.allowed)
		}
	})
	time.Sleep(30 * time.Millisecond)
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.working <= g.wanted {
		g.changed.Wait()
	}
	g.working--
	g.changed.Broadcast()
	return nil
}

func (g *gauge) update(what func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	what()
	g.changed.Broadcast()
}

// await waits until something is so. The caller's function is called under the mutex.
func (g *gauge) await(ctx context.Context, what string, isSo func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, func() { g.update(func() {}) })()
	g.mu.Lock()
	defer g.mu.Unlock()
	for !isSo() {
		if ctx.Err() != nil {
			return fmt.Errorf("%d at work, waited for %s: %w", g.working, what, ctx.Err())
		}
		g.changed.Wait()
	}
	return nil
}

// settle waits until the limit is n for every lease that there is: all processes know it, and each worker has asked for
// a lease since then.
func (g *gauge) settle(ctx context.Context, n int32) error {
	var before []int
	err := g.await(ctx, fmt.Sprintf("limit %d in all processes", n), func() bool {
		for _, limit := range g.limits {
			if limit.Count() != n {
				return false
			}
		}
		before = append(before[:0], g.asked...)
		return len(g.limits) == processes && len(g.asked) == processes*workers
	})
	if err != nil {
		return err
	}
	return g.await(ctx, "a lease of each worker", func() bool {
		for i, asked := range g.asked {
			if asked <= before[i] {
				return false
			}
		}
		return true
	})
}

// reach waits until n are at work together.
func (g *gauge) reach(ctx context.Context, n int) error {
	g.update(func() { g.wanted = n })
	defer g.update(func() { g.wanted = 0 })
	return g.await(ctx, fmt.Sprintf("%d", n), func() bool { return g.working == n })
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

func (g *gauge) allow(n int) { g.update(func() { g.allowed = n }) }

func (g *gauge) finish() { g.update(func() { g.done = true }) }

func (g *gauge) finished() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.done
}
