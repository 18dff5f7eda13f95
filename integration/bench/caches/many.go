package caches

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/recipes/cache"
)

// A Size is how many caches there are, and how many nodes each of them has.
type Size struct{ Caches, Nodes int }

func (s Size) String() string { return fmt.Sprintf("%d × %d", s.Caches, s.Nodes) }

// Figures are what caches cost.
type Figures struct {
	Full   time.Duration   // from the first start until the last was full
	Again  time.Duration   // from a cut until the last had read its tree again, or the second fill
	Memory float64         // bytes for each node; less than 0 if it was not measured
	Events []time.Duration // from a change to its event
	Missed int             // changes without an event of their own, since the next of the same node had come
}

// Many fills many caches of one client at the same time, each with a tree of its own, on zktest in this process.
func Many(ctx context.Context, size Size, changes int) (f Figures, err error) {
	srv := zktest.NewServer()
	defer func() { err = errors.Join(err, srv.Close()) }()
	f.Memory = -1
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(srv.DialContext), framework.WithLogger(Silent()))
	if err != nil {
		return f, err
	}
	defer func() { _ = client.Close() }()
	if err := client.BlockUntilConnected(ctx); err != nil {
		return f, err
	}
	trees, err := plantMany(size, PlantAt(srv))
	if err != nil {
		return f, err
	}
	before := heap()
	events := &arrivals{clock: job.NewClock(), at: make(map[int64]int64)}
	begun := time.Now()
	all, err := startAll(ctx, client, size, func(c *cache.CuratorCache) { c.OnEvent(events.hear) })
	defer closeAll(all)
	if err != nil {
		return f, err
	}
	f.Full = time.Since(begun)
	f.Memory = float64(heap()-before) / float64(size.Caches*size.Nodes)
	stamps, err := changeSome(ctx, changes, events.clock, func(stamp int64) error {
		tree := trees[rand.IntN(len(trees))]
		return srv.SetData(tree[rand.IntN(len(tree))], job.Stamp(stamp))
	})
	if err != nil {
		return f, err
	}
	if f.Events, f.Missed, err = events.of(ctx, stamps); err != nil {
		return f, err
	}
	begun = time.Now()
	srv.CutAll()
	err = readAgain(ctx, all, 1)
	f.Again = time.Since(begun)
	return f, err
}

func rootOf(i int) string { return fmt.Sprintf("/cache-%04d", i) }

// plantMany makes a tree for each cache.
func plantMany(size Size, plant func(paths []string) error) (trees [][]string, err error) {
	for i := range size.Caches {
		tree := Tree(rootOf(i), size.Nodes)
		if err := plant(tree); err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

// PlantAt makes nodes of 100 bytes on zktest.
func PlantAt(srv *zktest.Server) func(paths []string) error {
	return func(paths []string) error {
		for _, path := range paths {
			if err := srv.Create(path, job.Stamp(0)); err != nil {
				return err
			}
		}
		return nil
	}
}

// startAll starts caches side by side, and returns when all are full, and have the nodes that they should. It returns
// them on an error too.
func startAll(ctx context.Context, client *framework.Client, size Size, prepare func(*cache.CuratorCache)) ([]*cache.CuratorCache, error) {
	all := make([]*cache.CuratorCache, size.Caches)
	group, ctx := errgroup.WithContext(ctx)
	for i := range all {
		all[i] = cache.NewCuratorCache(client, rootOf(i))
		prepare(all[i])
		group.Go(func() error {
			if err := all[i].Start(ctx); err != nil {
				return err
			}
			if got := all[i].Len(); got != size.Nodes {
				return fmt.Errorf("the cache of %s has %d nodes, not %d", rootOf(i), got, size.Nodes)
			}
			return nil
		})
	}
	return all, group.Wait()
}

func closeAll(all []*cache.CuratorCache) {
	for _, c := range all {
		_ = c.Close() // fails if it was never started
	}
}

// readAgain waits until each cache has read its tree more often than so many times, and is up to date.
func readAgain(ctx context.Context, all []*cache.CuratorCache, times int) error {
	for _, c := range all {
		for c.Stats().Readings <= times || !c.Synced() {
			if err := c.Err(); err != nil {
				return err
			}
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// Changes come this far apart, so that each is an event of its own. The last stands alone.
const (
	apart     = 2 * time.Millisecond
	lastApart = 300 * time.Millisecond
)

// changeSome makes changes and returns their stamps.
func changeSome(ctx context.Context, n int, clock job.Clock, change func(stamp int64) error) ([]int64, error) {
	var stamps []int64
	for i := range n {
		pause := apart
		if i == n-1 {
			pause = lastApart
		}
		time.Sleep(pause)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		stamps = append(stamps, clock.Now())
		if err := change(stamps[i]); err != nil {
			return nil, err
		}
	}
	return stamps, nil
}

// arrivals notes when the event of each change came.
type arrivals struct {
	clock job.Clock

	mu sync.Mutex
	at map[int64]int64 // by stamp
}

func (a *arrivals) hear(e cache.Event) {
	if e.Kind != cache.Changed {
		return
	}
	now := a.clock.Now()
	stamp, err := stampOf(e.New.Data)
	if err != nil {
		return // then its event never comes
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at[stamp] = now
}

// of returns how long the events of changes took, once that of the last has come.
func (a *arrivals) of(ctx context.Context, stamps []int64) (took []time.Duration, missed int, err error) {
	if len(stamps) == 0 {
		return nil, 0, nil
	}
	heard := func(stamp int64) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		_, ok := a.at[stamp]
		return ok
	}
	for begun := time.Now(); !heard(stamps[len(stamps)-1]); {
		if time.Since(begun) > patience {
			return nil, 0, errors.New("no event of the last change")
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	took, missed = latencies(stamps, a.at)
	return took, missed, nil
}

// latencies returns how long the events of changes took, and how many changes had none.
func latencies(stamps []int64, at map[int64]int64) (took []time.Duration, missed int) {
	for _, stamp := range stamps {
		if heard, ok := at[stamp]; ok {
			took = append(took, time.Duration(heard-stamp))
		} else {
			missed++
		}
	}
	return took, missed
}
