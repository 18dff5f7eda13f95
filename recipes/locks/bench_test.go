package locks_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// The cost of the library itself: the server is in memory, so what is left of a cycle is ours, go-zookeeper's and its
// own.

func benchmarkClient(b *testing.B) *framework.Client {
	b.Helper()
	server := zktest.NewServer()
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
	})
	return client
}

func cycle(b *testing.B, lock locks.Lock) {
	lease, err := lock.Acquire(b.Context())
	if err != nil {
		b.Error(err)
		return
	}
	if err := lease.Release(); err != nil {
		b.Error(err)
	}
}

func BenchmarkCycle(b *testing.B) {
	client := benchmarkClient(b)
	rw := locks.NewInterProcessReadWriteLock(client, "/rw")
	for _, bench := range []struct {
		name string
		lock locks.Lock
	}{
		{"InterProcessMutex", locks.NewInterProcessMutex(client, "/mutex")},
		{"ReadLock", rw.ReadLock()},
		{"WriteLock", rw.WriteLock()},
		{"InterProcessSemaphoreV2", locks.NewInterProcessSemaphoreV2(client, "/semaphore", 5)},
		{"InterProcessSemaphoreMutex", locks.NewInterProcessSemaphoreMutex(client, "/semaphore-mutex")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cycle(b, bench.lock)
			}
		})
	}
}

func BenchmarkReentry(b *testing.B) {
	for name, opts := range map[string][]locks.Option{"plain": nil, "WithCaller": {locks.WithCaller()}} {
		b.Run(name, func(b *testing.B) {
			mutex := locks.NewInterProcessMutex(benchmarkClient(b), "/mutex", opts...)
			lease, err := mutex.Acquire(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			ctx := lease.Context(b.Context())
			b.ReportAllocs()
			for b.Loop() {
				inner, err := mutex.Acquire(ctx)
				if err != nil {
					b.Fatal(err)
				}
				if err := inner.Release(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSixteenGoroutines(b *testing.B) {
	for _, bench := range []struct {
		name string
		path func(i int) string
	}{
		{"one lock", func(int) string { return "/one" }},
		{"each its own", func(i int) string { return fmt.Sprintf("/own-%d", i) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			client := benchmarkClient(b)
			sixteen(b, func(i int) locks.Lock { return locks.NewInterProcessMutex(client, bench.path(i)) })
		})
	}
}

// BenchmarkRetained is one goroutine, or sixteen, that want a retained lock. Neither asks a server.
func BenchmarkRetained(b *testing.B) {
	retained := func(b *testing.B, opts ...locks.RetainOption) locks.Lock {
		b.Helper()
		return locks.NewInterProcessMutex(benchmarkClient(b), "/one").Retained(opts...)
	}
	b.Run("one", func(b *testing.B) {
		lock := retained(b, locks.RetainIdle(100*time.Millisecond))
		b.ReportAllocs()
		for b.Loop() {
			cycle(b, lock)
		}
	})
	b.Run("sixteen", func(b *testing.B) {
		lock := retained(b)
		sixteen(b, func(int) locks.Lock { return lock })
	})
}

// sixteen has b.N cycles done by sixteen goroutines.
func sixteen(b *testing.B, lock func(i int) locks.Lock) {
	b.Helper()
	b.ReportAllocs()
	var begun atomic.Int64
	var workers sync.WaitGroup
	for i := range 16 {
		lock := lock(i)
		workers.Go(func() {
			for begun.Add(1) <= int64(b.N) {
				cycle(b, lock)
			}
		})
	}
	workers.Wait()
}

// BenchmarkLook is what a holder pays to ask whether it still holds.
func BenchmarkLook(b *testing.B) {
	client := benchmarkClient(b)
	lease, err := locks.NewInterProcessMutex(client, "/mutex").Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	ctx := lease.Context(b.Context())
	for name, look := range map[string]func() error{"Lease.Err": lease.Err, "Context.Err": ctx.Err} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := look(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Context", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			parent, cancel := context.WithCancel(b.Context())
			_ = lease.Context(parent)
			cancel()
		}
	})
}
