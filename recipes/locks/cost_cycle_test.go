package locks_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// What a cycle of a lone worker costs, beside its two requests: benchmarks would show it too, and be read later. These
// tests run outside bubbles, where nothing but the cycle allocates.

// countedConn counts the calls that reach the network.
type countedConn struct {
	net.Conn
	reads, writes *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.reads.Add(1)
	return n, err
}

func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A loneWorker has a lock that is no other client's.
type loneWorker struct {
	*framework.Client
	mutex         *locks.InterProcessMutex
	reads, writes atomic.Int64
}

func newLoneWorker(t *testing.T) *loneWorker {
	t.Helper()
	server := zktest.NewServer()
	t.Cleanup(func() { _ = server.Close() })
	for _, dir := range []string{"/lock", "/raw"} {
		must(t, server.Create(dir, nil))
	}
	w := &loneWorker{}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := server.DialContext(ctx, network, address)
		return countedConn{conn, &w.reads, &w.writes}, err
	}
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(dial), framework.WithSessionTimeout(time.Minute))
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	w.Client, w.mutex = client, locks.NewInterProcessMutex(client, "/lock")
	for range 20 { // until it skips the listing
		w.cycle(t)
	}
	return w
}

func (w *loneWorker) cycle(t *testing.T) { release(t, acquire(t, w.mutex)) }

// raw is the floor: the creation of a node and its deletion.
func (w *loneWorker) raw(t *testing.T) {
	node, _, err := w.Create(t.Context(), "/raw/lock-", nil, framework.WithMode(framework.EphemeralSequential))
	if err == nil {
		err = w.Delete(t.Context(), node, -1)
	}
	must(t, err)
}

func TestACycleOfALoneWorkerIsTwoWritesAndTwoReads(t *testing.T) {
	w := newLoneWorker(t)
	const cycles = 200
	reads, writes := w.reads.Load(), w.writes.Load()
	for range cycles {
		w.cycle(t)
	}
	// A few more are those of renewals and pings, on a machine that is slow.
	if n := w.writes.Load() - writes; n < 2*cycles || n > 2*cycles+10 {
		t.Errorf("got %d writes in %d cycles, want two a cycle", n, cycles)
	}
	if n := w.reads.Load() - reads; n < 2*cycles || n > 2*cycles+10 {
		t.Errorf("got %d reads in %d cycles, want two a cycle", n, cycles)
	}
}

// Goroutines are numbered, by the processor that starts them in groups of 16. Others of this process may start some in
// a round, but a cycle that starts one does so in every round.
func TestACycleOfALoneWorkerStartsNoGoroutine(t *testing.T) {
	w := newLoneWorker(t)
	newest := func() (most int) {
		for range 4 * runtime.GOMAXPROCS(0) {
			number := make(chan int)
			go func() {
				text, n := make([]byte, 64), 0
				_, _ = fmt.Sscanf(string(text[:runtime.Stack(text, false)]), "goroutine %d", &n)
				number <- n
			}()
			most = max(most, <-number)
		}
		return most
	}
	cycles, least := 500, 500
	for range 5 {
		before := newest()
		for range cycles {
			w.cycle(t)
		}
		least = min(least, newest()-before)
	}
	if newest() == 0 || least > cycles/4 {
		t.Errorf("got %d new goroutines in each %d cycles, want none of a cycle", least, cycles)
	}
}
