package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

// lose cuts all clients off, has their sessions ended, and connects them again. It waits until each registration is
// there again, in a new session, and the cache has it.
func (g *registry) lose(ctx context.Context) ([]number, error) {
	r := g.rig
	old := make(map[int64]bool)
	for _, client := range g.clients {
		s, err := client.Session(ctx)
		if err != nil {
			return nil, err
		}
		old[s.ID()] = true
	}
	var back sync.WaitGroup
	back.Add(g.n)
	stops := make([]func(), 0, g.n)
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	for _, registration := range g.all {
		returned := sync.OnceFunc(back.Done)
		stops = append(stops, registration.OnChange(func(there bool) {
			if there {
				returned()
			}
		}))
	}
	all := make(chan struct{})
	go func() {
		back.Wait()
		close(all)
	}()
	r.wire.cut()
	err := r.expireAll(ctx, slices.Collect(maps.Keys(old)))
	wire, read, peak, begun := r.wire.now(), g.read.now(), r.peakOf(ctx, func(c count) number { return c.requests }), time.Now()
	r.wire.heal()
	if err != nil {
		return nil, err
	}
	select {
	case <-all:
	case <-time.After(5 * time.Minute):
		return nil, fmt.Errorf("not all of %d registrations have returned after five minutes", g.n)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	took, lap, most := time.Since(begun), r.wire.now().minus(wire), peak()
	if err := g.view.await(ctx, 2*g.n); err != nil {
		return nil, err
	}
	shown, readLap := time.Since(begun), g.read.now().minus(read)
	n := number(g.n)
	return []number{
		n, number(len(g.clients)), millis(took), lap.requests / n, lap.sent / n, lap.received / n, most,
		millis(shown), readLap.requests / n, readLap.received / n,
	}, g.inNewSessions(ctx, old)
}

// inNewSessions checks that each node is there, and of no session that was ended.
func (g *registry) inNewSessions(ctx context.Context, old map[int64]bool) error {
	return each(ctx, g.n, func(ctx context.Context, i int) error {
		stat, err := g.reader[0].Exists(ctx, g.all[i].Path())
		switch {
		case err != nil:
			return err
		case stat == nil:
			return fmt.Errorf("%s is not there, although its registration says so", g.all[i].Path())
		case old[stat.EphemeralOwner]:
			return fmt.Errorf("%s is still that of a session that was ended", g.all[i].Path())
		}
		return nil
	})
}

// A view counts the instances that a cache has shown.
type view struct {
	mu      sync.Mutex
	created int
	changed chan struct{} // closed at the next
}

func (v *view) event(e discovery.Event) {
	if e.Kind != cache.Created {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.created++
	if v.changed != nil {
		close(v.changed)
		v.changed = nil
	}
}

// await waits until so many were shown.
func (v *view) await(ctx context.Context, n int) error {
	limit := time.After(5 * time.Minute)
	for {
		v.mu.Lock()
		if v.created >= n {
			v.mu.Unlock()
			return nil
		}
		if v.changed == nil {
			v.changed = make(chan struct{})
		}
		shown, changed := v.created, v.changed
		v.mu.Unlock()
		select {
		case <-changed:
		case <-limit:
			return fmt.Errorf("a cache has shown %d of %d after five minutes", shown, n)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
