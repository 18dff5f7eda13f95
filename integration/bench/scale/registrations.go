package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// registrations measures instances of one service that one client has registered, or a hundred; a cache of another
// client that follows them; and what the end of their sessions costs.
func registrations(ctx context.Context, l *lab) ([]*table, error) {
	const title = "Registrations of one service, "
	one, lost, err := l.registered(ctx, "registrations", title+"all by one client", l.sizes(10, 100, 1000, 5000), 1)
	tables := []*table{one, lost}
	if err != nil {
		return tables, err
	}
	spread, lostSpread, err := l.registered(ctx, "registrars", title+"spread over up to 100 clients", l.sizes(10, 100, 1000, 10_000, 50_000), 100)
	return append(tables, spread, lostSpread), err
}

func (l *lab) registered(ctx context.Context, name, title string, sizes []int, mostClients int) (*table, *table, error) {
	t := &table{Name: name, Title: title, Columns: []string{
		"registrations", "clients", "register (µs each, 64 at once)", "requests each", "bytes sent each", "bytes received each",
		"heap each (bytes)", "goroutines each", "server heap each (bytes)", "a cache has the last (ms later)",
		"its requests each", "its events each", "its bytes each",
		"a new cache has all (ms)", "its requests", "its bytes",
	}}
	lost := &table{Name: name + "-lost", Title: title + ", when the servers have ended all sessions", Columns: []string{
		"registrations", "clients", "all are back (ms)", "requests each", "bytes sent each", "bytes received each",
		"most requests in 100 ms", "a cache has all (ms)", "its requests each", "its bytes each",
	}}
	return t, lost, l.onServer(ctx, func(r *rig) error {
		return l.grow(t, sizes, func(n int) (row []number, err error) {
			reg := &registry{rig: r, n: n, base: fmt.Sprintf("/scale/%s-%d", name, n)}
			defer func() { err = errors.Join(err, reg.Close()) }()
			if row, err = reg.register(ctx, min(n, mostClients)); err != nil {
				return nil, err
			}
			again, err := reg.lose(ctx)
			if err != nil {
				return nil, err
			}
			lost.add(again...)
			return row, reg.unregister(ctx)
		})
	})
}

const service = "orders"

// A registry is the registrations of one service, and what follows them.
type registry struct {
	rig     *rig
	n       int
	base    string
	clients []*framework.Client
	all     []*discovery.Registration
	reader  []*framework.Client // one
	cache   *discovery.ServiceCache
	view    view
	read    tally // what the reader does
}

func (g *registry) Close() error {
	if g.cache != nil {
		_ = g.cache.Close() // its client is closed in any case
	}
	return errors.Join(closeAll(g.clients), closeAll(g.reader))
}

// register has the clients register all instances, while a cache of another client follows.
func (g *registry) register(ctx context.Context, clients int) (row []number, err error) {
	r := g.rig
	if g.clients, err = r.open(ctx, clients, r.counted); err != nil {
		return nil, err
	}
	if g.reader, err = r.open(ctx, 1, g.read.dial); err != nil {
		return nil, err
	}
	g.cache = discovery.NewServiceDiscovery(g.reader[0], g.base).NewServiceCache(service)
	g.cache.OnEvent(g.view.event) // until the cache is closed
	if err := g.cache.Start(ctx); err != nil {
		return nil, err
	}
	g.all = make([]*discovery.Registration, g.n)
	server, before := r.serverHeap(ctx), r.footprint()
	wire, read, begun := r.wire.now(), g.read.now(), time.Now()
	if err := g.registerAll(ctx); err != nil {
		return nil, err
	}
	took, lap := time.Since(begun), r.wire.now().minus(wire)
	done := time.Now()
	if err := g.view.await(ctx, g.n); err != nil {
		return nil, err
	}
	seen, readLap := time.Since(done), g.read.now().minus(read)
	memory, n := r.footprint().per(g.n, before), number(g.n)
	row = []number{
		n, number(clients), number(took) / n / number(time.Microsecond), lap.requests / n, lap.sent / n, lap.received / n,
		memory.heap, memory.goroutines, (r.serverHeap(ctx) - server) / n, millis(seen),
		readLap.requests / n, readLap.events / n, readLap.received / n,
	}
	fresh, err := g.fresh(ctx)
	return append(row, fresh...), err
}

func (g *registry) registerAll(ctx context.Context) error {
	return each(ctx, g.n, func(ctx context.Context, i int) (err error) {
		port := 1024 + i
		services := discovery.NewServiceDiscovery(g.clients[i%len(g.clients)], g.base)
		g.all[i], err = services.Register(ctx, discovery.ServiceInstance{
			Name: service, ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Address: "127.0.0.1", Port: &port,
		})
		return err
	})
}

// fresh is what a cache costs that begins when all are registered.
func (g *registry) fresh(ctx context.Context) (row []number, err error) {
	var read tally
	client, err := g.rig.open(ctx, 1, read.dial)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(client)) }()
	cache := discovery.NewServiceDiscovery(client[0], g.base).NewServiceCache(service)
	before, begun := read.now(), time.Now()
	if err := cache.Start(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cache.Close()) }()
	took, lap, found := time.Since(begun), read.now().minus(before), 0
	for range cache.Instances() {
		found++
	}
	if found != g.n {
		return nil, fmt.Errorf("a new cache has %d instances of %d", found, g.n)
	}
	return []number{millis(took), lap.requests, lap.received}, nil
}

// unregister ends all registrations. No node may be left.
func (g *registry) unregister(ctx context.Context) error {
	err := each(ctx, g.n, func(_ context.Context, i int) error { return g.all[i].Close() })
	return errors.Join(err, empty(ctx, g.reader[0], g.base+"/"+service))
}

func millis(d time.Duration) number { return number(d) / number(time.Millisecond) }
