package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// locksEach is how many locks each client of a fleet holds.
const locksEach = 10

// fleets measures many clients that hold ten locks each: what it takes to get there, and what it costs to stay.
func fleets(ctx context.Context, l *lab) ([]*table, error) {
	t := &table{Name: "fleet", Title: fmt.Sprintf("Clients that hold %d locks each", locksEach), Columns: []string{
		"clients", "connect (s, all)", "acquire (µs per lock)", "requests per lock", "bytes sent per lock", "bytes received per lock",
		"heap per client (bytes)", "heap per lock (bytes)", "stack per client (bytes)", "goroutines per client",
		"server heap per session (bytes)", "server heap per lock (bytes)", "release (µs per lock)",
	}}
	idle := &table{Name: "idle", Title: "The same clients while they hold, and do nothing", Columns: []string{
		"clients", "seconds", "pings per client and minute", "requests per client and minute", "bytes sent per client and minute",
		"servers (% of a core)", "clients (% of a core)",
	}}
	err := l.onServer(ctx, func(r *rig) error {
		return l.grow(t, l.sizes(10, 100, 1000, 2500, 5000), func(n int) ([]number, error) {
			f := &fleet{rig: r, path: fmt.Sprintf("/scale/fleet-%d", n), n: n}
			row, err := f.measure(ctx)
			if err != nil {
				return nil, err
			}
			row = append(row, missing)
			stay, err := f.stay(ctx, 10*l.lasts)
			if err != nil {
				return nil, errors.Join(err, f.Close())
			}
			idle.add(stay...)
			row[len(row)-1], err = f.release(ctx)
			return row, errors.Join(err, f.Close())
		})
	})
	return []*table{t, idle}, err
}

// A fleet is clients that hold locks, each its own.
type fleet struct {
	rig     *rig
	path    string
	n       int
	clients []*framework.Client
	leases  []*locks.Lease
}

// Close ends the clients.
func (f *fleet) Close() error { return closeAll(f.clients) }

// measure connects the clients, and has them acquire their locks.
func (f *fleet) measure(ctx context.Context) (row []number, err error) {
	r := f.rig
	server, before := r.serverHeap(ctx), r.footprint()
	begun := time.Now()
	if f.clients, err = r.open(ctx, f.n, r.counted); err != nil {
		return nil, err
	}
	connected := time.Since(begun)
	serverConnected, client := r.serverHeap(ctx), r.footprint()
	f.leases = make([]*locks.Lease, f.n*locksEach)
	wire, begun := r.wire.now(), time.Now()
	if err := f.acquire(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	took, lap := time.Since(begun), r.wire.now().minus(wire)
	if err := pause(ctx, settled); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	held, n, all := r.footprint(), number(f.n), number(len(f.leases))
	memory, perLock := client.per(f.n, before), held.per(len(f.leases), client)
	return []number{
		n, number(connected.Seconds()), number(took) / all / number(time.Microsecond), lap.requests / all, lap.sent / all, lap.received / all,
		memory.heap, perLock.heap, held.per(f.n, before).stack, held.per(f.n, before).goroutines,
		(serverConnected - server) / n, (r.serverHeap(ctx) - serverConnected) / all,
	}, nil
}

func (f *fleet) lockPath(i int) string { return fmt.Sprintf("%s/%05d", f.path, i) }

func (f *fleet) acquire(ctx context.Context) error {
	return each(ctx, len(f.leases), func(ctx context.Context, i int) (err error) {
		f.leases[i], err = locks.NewInterProcessMutex(f.clients[i%f.n], f.lockPath(i)).Acquire(ctx)
		return err
	})
}

// stay does nothing for a while. Each lease must have outlasted it.
func (f *fleet) stay(ctx context.Context, lasts time.Duration) ([]number, error) {
	wire, used, begun := f.rig.wire.now(), f.rig.usage(), time.Now()
	if err := pause(ctx, lasts); err != nil {
		return nil, err
	}
	lasted := time.Since(begun)
	busy, lap := f.rig.usage().percent(used, lasted), f.rig.wire.now().minus(wire)
	lost := 0
	var loss error
	for _, lease := range f.leases {
		if err := lease.Err(); err != nil {
			lost++
			loss = err
		}
	}
	if lost > 0 {
		return nil, fmt.Errorf("%d leases were lost by clients that did nothing, one of them: %w", lost, loss)
	}
	each := number(f.n) * number(lasted.Minutes())
	return []number{
		number(f.n), number(lasted.Seconds()), lap.pings / each, lap.requests / each, lap.sent / each, busy.servers, busy.clients,
	}, nil
}

// release lets all locks go, and returns how long each took, in µs. No node may be left.
func (f *fleet) release(ctx context.Context) (number, error) {
	begun := time.Now()
	if err := releaseAll(ctx, f.leases); err != nil {
		return missing, err
	}
	took := number(time.Since(begun)) / number(len(f.leases)) / number(time.Microsecond)
	return took, each(ctx, len(f.leases), func(ctx context.Context, i int) error {
		return empty(ctx, f.clients[i%f.n], f.lockPath(i))
	})
}
