// Package promises_test shows that every recipe keeps the promises that all recipes make. [table] names the test for
// each of them, and the stories here play what all recipes have in common.
package promises_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/counters"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
)

// path is where each recipe works.
const path = "/service/thing"

const (
	sessionTimeout    = 10 * time.Second
	connectionTimeout = 5 * time.Second
)

// A subject is a recipe as a program uses it.
type subject struct {
	row   string
	names string                      // what identifies it when it is printed
	value fmt.Stringer                // the recipe; after begin of a registration, the registration
	begin func(context.Context) error // acquires, starts or registers
	works func(context.Context) error // blocks until it does again what it is for
	end   func() error                // releases or closes
	stays string                      // what an error of end names if no server answers; empty if nothing stays
}

// subjects returns each recipe over the client. None has begun.
func subjects(client *framework.Client) []*subject {
	mutex := locks.NewInterProcessMutex(client, path)
	semaphoreMutex := locks.NewInterProcessSemaphoreMutex(client, path)
	writeLock := locks.NewInterProcessReadWriteLock(client, path).WriteLock()
	semaphore := locks.NewInterProcessSemaphoreV2(client, path, 2)
	multiLock := locks.NewInterProcessMultiLockWithPaths(client, []string{path + "/a", path + "/b"})
	retained := locks.NewInterProcessMutex(client, path).Retained()
	all := []*subject{
		withLease("mutex", mutex, mutex.Acquire),
		withLease("semaphore mutex", semaphoreMutex, semaphoreMutex.Acquire),
		withLease("read/write lock", writeLock, writeLock.Acquire),
		withLease("semaphore", semaphore, semaphore.Acquire),
		withLease("multi-lock", multiLock, multiLock.Acquire),
		withLease("retained lock", retained, retained.Acquire),
		ofLatch(client),
		ofSelector(client),
		ofCount(client),
		ofCache(client),
		ofNode(client),
		ofRegistration(client),
		ofServiceCache(client),
		ofCounter(client),
	}
	for _, s := range all {
		s.names = path
	}
	return append(all, ofClient(client))
}

// withLease holds one lease from begin to end, and acquires another one after its loss.
func withLease(row string, value fmt.Stringer, acquire func(context.Context) (*locks.Lease, error)) *subject {
	var held *locks.Lease
	s := &subject{row: row, value: value, stays: path}
	s.begin = func(ctx context.Context) (err error) {
		held, err = acquire(ctx)
		return err
	}
	s.works = func(ctx context.Context) error {
		if held.Err() == nil {
			return nil
		}
		_ = held.Release()
		return s.begin(ctx)
	}
	s.end = func() error { return held.Release() }
	return s
}

func ofLatch(client *framework.Client) *subject {
	latch := leader.NewLeaderLatch(client, path)
	return &subject{
		row: "latch", value: latch, begin: latch.Start, end: latch.Close, stays: path,
		works: func(ctx context.Context) error {
			_, err := latch.Await(ctx)
			return err
		},
	}
}

func ofSelector(client *framework.Client) *subject {
	selector := leader.NewLeaderSelector(client, path)
	return withLease("selector", selector, selector.Campaign)
}

func ofCount(client *framework.Client) *subject {
	count := shared.NewSharedCount(client, path, 7)
	return &subject{row: "shared count", value: count, begin: count.Start, works: count.Confirm, end: count.Close}
}

func ofCache(client *framework.Client) *subject {
	c := cache.NewCuratorCache(client, path)
	return &subject{row: "cache", value: c, begin: c.Start, works: c.Sync, end: c.Close}
}

func ofNode(client *framework.Client) *subject {
	node := nodes.NewPersistentNode(client, path, []byte("mine"))
	return &subject{
		row: "persistent node", value: node, begin: node.Start, end: node.Close, stays: path,
		works: func(ctx context.Context) error { return until(ctx, node.There, node.OnChange) },
	}
}

func ofRegistration(client *framework.Client) *subject {
	port := 80
	var registration *discovery.Registration
	s := &subject{row: "registration", stays: path}
	s.begin = func(ctx context.Context) (err error) {
		registration, err = discovery.NewServiceDiscovery(client, path).
			Register(ctx, discovery.ServiceInstance{Name: "web", ID: "1", Address: "127.0.0.1", Port: &port})
		s.value = registration
		return err
	}
	s.works = func(ctx context.Context) error { return until(ctx, registration.There, registration.OnChange) }
	s.end = func() error { return registration.Close() }
	return s
}

func ofServiceCache(client *framework.Client) *subject {
	c := discovery.NewServiceDiscovery(client, path).NewServiceCache("web")
	return &subject{row: "service cache", value: c, begin: c.Start, works: c.Sync, end: c.Close}
}

func ofCounter(client *framework.Client) *subject {
	counter := counters.NewDistributedAtomicLong(client, path)
	add := func(ctx context.Context) error {
		_, _, err := counter.Add(ctx, 1)
		return err
	}
	return &subject{row: "counters", value: counter, begin: add, works: add, end: func() error { return nil }}
}

// until blocks until there returns true, and looks whenever onChange reports.
func until(ctx context.Context, there func() bool, onChange func(func(bool)) (stop func())) error {
	changed := make(chan struct{}, 1)
	defer onChange(func(bool) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for !there() {
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func ofClient(client *framework.Client) *subject {
	ask := func(ctx context.Context) error {
		_, err := client.Exists(ctx, path)
		return err
	}
	return &subject{row: "client", names: "zktest:2181", stays: "session", value: client, begin: ask, works: ask, end: client.Close}
}
