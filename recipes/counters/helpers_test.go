package counters_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
	"github.com/gocurator/curator/retry"
)

const (
	sessionTimeout = 10 * time.Second
	path           = "/numbers/hits"
	lockPath       = "/locks/hits"
)

// write is the request that changes a counter.
var write = zktest.Match{Op: zktest.OpMulti, Path: path}

// inBubble runs a test with a server of its own. A goroutine, a watch or a connection that is left at its end is an
// error.
func inBubble(t *testing.T, test func(t *testing.T, server *zktest.Server), opts ...zktest.Option) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) { test(t, zktest.New(t, opts...)) })
}

// newClient makes a client over a path of its own.
func newClient(t *testing.T, server *zktest.Server, opts ...framework.Option) (*framework.Client, *zktest.Link) {
	t.Helper()
	link := server.NewLink()
	client := dial(t, append([]framework.Option{framework.WithDialer(link.DialContext)}, opts...)...)
	t.Cleanup(link.Heal) // before the client is closed
	return client, link
}

func dial(t *testing.T, opts ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("zktest:2181", append([]framework.Option{
		framework.WithSessionTimeout(sessionTimeout),
		framework.WithRetryPolicy(retry.NTimes(5, 10*time.Millisecond)),
	}, opts...)...)
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	must(t, client.BlockUntilConnected(t.Context()))
	return client
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newLong makes a counter of a client of its own.
func newLong(t *testing.T, server *zktest.Server, opts ...counters.Option) (*counters.DistributedAtomicLong, *zktest.Link) {
	t.Helper()
	client, link := newClient(t, server)
	return counters.NewDistributedAtomicLong(client, path, opts...), link
}

// number gives the node a number, and makes it if it is missing.
func number(t *testing.T, server *zktest.Server, n int64) {
	t.Helper()
	put(t, server, binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func put(t *testing.T, server *zktest.Server, data []byte) {
	t.Helper()
	if server.Exists(path) {
		must(t, server.SetData(path, data))
		return
	}
	if !server.Exists("/numbers") {
		must(t, server.Create("/numbers", nil))
	}
	must(t, server.Create(path, data))
}

func remove(t *testing.T, server *zktest.Server) {
	t.Helper()
	must(t, server.Delete(path))
}

func wantNumber(t *testing.T, server *zktest.Server, want int64) {
	t.Helper()
	synctest.Wait()
	data, ok := server.Data(path)
	if !ok || len(data) != 8 || int64(binary.BigEndian.Uint64(data)) != want {
		t.Errorf("the server has %x, want %d in eight bytes", data, want)
	}
}

func wantAdd(t *testing.T, l *counters.DistributedAtomicLong, delta, wantBefore, wantAfter int64) {
	t.Helper()
	before, after, err := l.Add(t.Context(), delta)
	if before != wantBefore || after != wantAfter || err != nil {
		t.Errorf("Add(%d): got %d, %d, %v, want %d, %d", delta, before, after, err, wantBefore, wantAfter)
	}
}

// wantUnknown checks an error of a call that may have counted.
func wantUnknown(t *testing.T, err error, reasons ...error) {
	t.Helper()
	for _, want := range append(reasons, counters.ErrUnknown) {
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v in it", err, want)
		}
	}
}

// wantCertain checks an error of a call that has not counted.
func wantCertain(t *testing.T, err, want error) {
	t.Helper()
	if errors.Is(err, counters.ErrUnknown) || !errors.Is(err, want) {
		t.Errorf("got %v, want %v, and not ErrUnknown", err, want)
	}
}

// added is what an Add on another goroutine has returned.
type added struct {
	before, after int64
	err           error
}

func add(ctx context.Context, l *counters.DistributedAtomicLong, delta int64) <-chan added {
	done := make(chan added, 1)
	go func() {
		before, after, err := l.Add(ctx, delta)
		done <- added{before, after, err}
	}()
	return done
}

// before calls fn right before each request of a kind at the counter is executed, with its number from 1 on.
func before(t *testing.T, server *zktest.Server, op zktest.Op, fn func(nth int)) {
	t.Helper()
	nth := 0 // guarded by the server, whose requests come one at a time
	t.Cleanup(server.Observe(func(r zktest.Request) {
		if r.Op == op && r.Path == path {
			nth++
			fn(nth)
		}
	}))
}
