package cache_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// Caches share the session with leases. A renewal is sent T/4 after the answer to the last one, and proves what was
// answered T/4 before it was sent: with answers that take no time a lease has T/2 - T/100 left at the least, caches or
// none, and with answers that take L each it has 2L less.
const (
	disturbedTimeout = 4 * time.Second // T
	mostUnderWay     = 64              // reads
	mostLatency      = disturbedTimeout / 8
)

// latency is how long an answer takes at most behind the reads of caches.
func latency(perAnswer time.Duration) time.Duration { return min(mostUnderWay*perAnswer, mostLatency) }

// At a server that takes 1 ms for an answer their number limits the reads, at the others the time that answers take.
func TestCachesThatFillAndReadAgainDoNotDisturbLeases(t *testing.T) {
	for perAnswer, size := range map[time.Duration]struct{ caches, children int }{
		time.Millisecond:      {100, 20},
		10 * time.Millisecond: {30, 20},
		50 * time.Millisecond: {10, 10},
	} {
		t.Run(perAnswer.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				wantUndisturbed(t, server, perAnswer, size.caches, size.children)
			})
		})
	}
}

func wantUndisturbed(t *testing.T, server *zktest.Server, perAnswer time.Duration, caches, children int) {
	t.Helper()
	for i := range caches {
		makeNode(t, server, fmt.Sprintf("/%d", i), "root")
		for j := range children {
			makeNode(t, server, fmt.Sprintf("/%d/%d", i, j), "node")
		}
	}
	link := server.NewLink()
	most := link.MostUnderWay(zktest.OpGetData, zktest.OpExists, zktest.OpGetChildren, zktest.OpGetChildren2)
	client, _ := newClient(t, server, framework.WithSessionTimeout(disturbedTimeout),
		framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := link.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &slowConn{Conn: conn, perAnswer: perAnswer}, nil
		}))
	l := bindLease(t, client)
	time.Sleep(5 * disturbedTimeout)
	link.Reset()
	time.Sleep(5 * disturbedTimeout)
	quiet, _ := l.lowest()

	var filling sync.WaitGroup
	var started []*cache.CuratorCache
	for i := range caches {
		c := cache.NewCuratorCache(client, fmt.Sprintf("/%d", i))
		t.Cleanup(func() { _ = c.Close() })
		started = append(started, c)
		filling.Go(func() {
			if err := c.Start(t.Context()); err != nil {
				t.Errorf("cache %d: %v", i, err)
			}
		})
	}
	filling.Wait()
	l.want(t, "while caches fill", quiet-2*latency(perAnswer))

	link.Reset()
	for i, c := range started {
		for c.Stats().Readings < 2 || !c.Synced() {
			time.Sleep(10 * time.Millisecond)
		}
		if got, want := c.Len(), children+1; got != want {
			t.Errorf("cache %d: got %d nodes, want %d", i, got, want)
		}
	}
	l.want(t, "while caches read again", quiet-2*latency(perAnswer))
	if got, want := most(), int(latency(perAnswer)/perAnswer); got < 2 || got > want {
		t.Errorf("got %d reads under way, want 2 to %d", got, want)
	}
}

// A boundLease looks at a binding, all the time.
type boundLease struct {
	mu    sync.Mutex
	least time.Duration
	ended error
}

func bindLease(t *testing.T, client *framework.Client) *boundLease {
	t.Helper()
	s, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := &boundLease{least: time.Hour}
	binding, err := s.Bind(func(cause error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ended = cause
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() { l.look(binding, stop) })
	t.Cleanup(func() {
		close(stop)
		looking.Wait()
		binding.Release()
	})
	return l
}

func (l *boundLease) look(binding session.Binding, stop <-chan struct{}) {
	for {
		left := time.Until(binding.ValidUntil())
		l.mu.Lock()
		l.least = min(l.least, left)
		l.mu.Unlock()
		select {
		case <-time.After(5 * time.Millisecond):
		case <-stop:
			return
		}
	}
}

// lowest returns the least time that was left since the last call, and why the lease has ended.
func (l *boundLease) lowest() (least time.Duration, ended error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	least, l.least = l.least, time.Hour
	return least, l.ended
}

func (l *boundLease) want(t *testing.T, when string, want time.Duration) {
	t.Helper()
	if got, ended := l.lowest(); ended != nil || got < want {
		t.Errorf("%s: got a lease with %v left, ended: %v; want at least %v", when, got, ended, want)
	}
}

// A slowConn is a connection with a server that takes a fixed time for each answer, one after the other.
type slowConn struct {
	net.Conn

	perAnswer time.Duration
	rest      []byte // what has still to be read of the present frame
}

func (c *slowConn) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		head := make([]byte, 4)
		if _, err := io.ReadFull(c.Conn, head); err != nil {
			return 0, err
		}
		c.rest = slices.Concat(head, make([]byte, binary.BigEndian.Uint32(head)))
		if _, err := io.ReadFull(c.Conn, c.rest[4:]); err != nil {
			return 0, err
		}
		time.Sleep(c.perAnswer)
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
