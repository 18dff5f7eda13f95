package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
)

// treeSize is how many nodes the tree has that all caches keep: one changes.
const treeSize = 10

// followers measures many caches of one tree, of one client and of one client each, while one node changes.
func followers(ctx context.Context, l *lab) ([]*table, error) {
	title := fmt.Sprintf("Caches of one tree of %d nodes, ", treeSize)
	one, err := l.followed(ctx, "caches", title+"all of one client", func(int) int { return 1 })
	if err != nil {
		return []*table{one}, err
	}
	spread, err := l.followed(ctx, "caches-spread", title+"each of its own client", func(n int) int { return n })
	return []*table{one, spread}, err
}

func (l *lab) followed(ctx context.Context, name, title string, clients func(n int) int) (*table, error) {
	t := &table{Name: name, Title: title, Columns: []string{
		"caches", "clients", "start (µs each, 64 at once)", "requests each", "bytes received each", "heap each (bytes)", "goroutines each",
		"server heap each (bytes)", "a change: all have it (ms, p50)", "(ms, most)", "events", "requests", "bytes received",
	}}
	return t, l.onServer(ctx, func(r *rig) error {
		return l.grow(t, l.sizes(1, 10, 100, 1000), func(n int) (row []number, err error) {
			f := &following{rig: r, path: fmt.Sprintf("/scale/%s-%d", name, n), n: n, seen: make(chan int)}
			defer func() { err = errors.Join(err, f.Close()) }()
			if row, err = f.start(ctx, clients(n)); err != nil {
				return nil, err
			}
			changed, err := f.change(ctx)
			return append(row, changed...), err
		})
	})
}

// A following is caches of one tree.
type following struct {
	rig     *rig
	path    string
	n       int
	writer  []*framework.Client // one
	clients []*framework.Client
	caches  []*cache.CuratorCache
	seen    chan int // the number of a change that a cache has shown; one send each
}

// Close ends the caches before their clients.
func (f *following) Close() error {
	var errs []error
	for _, c := range f.caches {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(append(errs, closeAll(f.clients), closeAll(f.writer))...)
}

// start fills the tree, and starts the caches.
func (f *following) start(ctx context.Context, clients int) (row []number, err error) {
	r := f.rig
	if f.writer, err = r.open(ctx, 1, r.direct); err != nil {
		return nil, err
	}
	for i := range treeSize - 1 { // and the root
		_, _, err := f.writer[0].Create(ctx, fmt.Sprintf("%s/%d", f.path, i), []byte("0"), framework.CreatingParentsIfNeeded())
		if err != nil {
			return nil, err
		}
	}
	if f.clients, err = r.open(ctx, clients, r.counted); err != nil {
		return nil, err
	}
	f.caches = make([]*cache.CuratorCache, f.n)
	server, before, wire, begun := r.serverHeap(ctx), r.footprint(), r.wire.now(), time.Now()
	err = each(ctx, f.n, func(ctx context.Context, i int) error {
		f.caches[i] = cache.NewCuratorCache(f.clients[i%clients], f.path)
		return f.caches[i].Start(ctx)
	})
	if err != nil {
		return nil, err
	}
	took, lap, memory, n := time.Since(begun), r.wire.now().minus(wire), r.footprint().per(f.n, before), number(f.n)
	heap := (r.serverHeap(ctx) - server) / n
	for i, c := range f.caches {
		if c.Len() != treeSize {
			return nil, fmt.Errorf("cache %d has %d nodes of %d", i, c.Len(), treeSize)
		}
		c.OnEvent(f.event(ctx)) // until the cache is closed
	}
	return []number{
		n, number(clients), number(took) / n / number(time.Microsecond), lap.requests / n, lap.received / n, memory.heap, memory.goroutines, heap,
	}, nil
}

// event reports that one cache has shown what is there, as change 0, and then the changes, one after the other. A
// change before that would be part of what is there, and no event.
func (f *following) event(ctx context.Context) func(cache.Event) {
	begun := false
	return func(e cache.Event) {
		which := 0
		switch {
		case e.Kind == cache.Synced && !begun:
			begun = true
		case e.Kind == cache.Changed:
			var err error
			if which, err = strconv.Atoi(string(e.New.Data)); err != nil {
				which = -1
			}
		default:
			return
		}
		select {
		case f.seen <- which:
		case <-ctx.Done():
		}
	}
}

// change changes the node again and again, each time when all caches have shown the change before.
func (f *following) change(ctx context.Context) ([]number, error) {
	const changes = 20
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := f.await(ctx, 0); err != nil {
		return nil, err
	}
	var times []time.Duration
	wire := f.rig.wire.now()
	for which := 1; which <= changes; which++ {
		begun := time.Now()
		if _, err := f.writer[0].Set(ctx, f.path+"/0", []byte(strconv.Itoa(which)), -1); err != nil {
			return nil, err
		}
		if err := f.await(ctx, which); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begun))
	}
	lap := f.rig.wire.now().minus(wire)
	most := times[0]
	for _, d := range times {
		most = max(most, d)
	}
	return []number{
		micros(times) / 1000, millis(most), lap.events / changes, lap.requests / changes, lap.received / changes,
	}, nil
}

// await blocks until every cache has shown a change.
func (f *following) await(ctx context.Context, which int) error {
	for caches := range f.n {
		select {
		case got := <-f.seen:
			if got != which {
				return fmt.Errorf("a cache shows change %d, although it is change %d that was written", got, which)
			}
		case <-ctx.Done():
			return fmt.Errorf("only %d of %d caches have shown change %d: %w", caches, f.n, which, context.Cause(ctx))
		}
	}
	return nil
}
