package live_test

import (
	"context"
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// fill makes nodes with size bytes each, which end with their number, and returns their paths.
func fill(t *testing.T, server *zktest.Server, count, size int) (paths []string) {
	t.Helper()
	must(t, server.Create("/many", nil))
	data := make([]byte, size)
	for i := range count {
		paths = append(paths, fmt.Sprintf("/many/%05d", i))
		must(t, server.Create(paths[i], fmt.Append(data, i)))
	}
	return paths
}

// wantMany reads nodes of fill and checks that each is yielded once, in order. Any goroutine may call it.
func wantMany(t *testing.T, s session.Session, paths []string, size int) {
	t.Helper()
	i := 0
	for read, err := range s.ReadMany(t.Context(), paths, session.ReadData) {
		if err != nil {
			t.Errorf("got error %v after %d of %d nodes, want none", err, i, len(paths))
			return
		}
		number, _ := strconv.Atoi(path.Base(paths[i]))
		if want := fmt.Sprint(number); read.Path != paths[i] || len(read.Data) != size+len(want) || string(read.Data[size:]) != want || read.Stat == nil || read.Err != nil {
			t.Errorf("node %d: got %s, %d bytes, %v, error %v, want %s and its data", i, read.Path, len(read.Data), read.Stat, read.Err, paths[i])
			return
		}
		i++
	}
	if i != len(paths) {
		t.Errorf("got %d nodes, want %d", i, len(paths))
	}
}

func TestReadManyReadsEachNodeOnceInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths := fill(t, w.Server, 100, 10)
		before := w.Count(zktest.OpGetData)
		wantMany(t, w.Session(), paths, 10)
		if got := w.Count(zktest.OpGetData) - before; got != 100 {
			t.Errorf("got %d reads, want 100", got)
		}
		for read, err := range w.Session().ReadMany(t.Context(), nil, session.ReadData) {
			t.Errorf("no paths: got %+v, %v, want no round", read, err)
		}
	})
}

// With a latency all that is under way arrives at one moment, one round trip after the answers of the last moment.
func TestReadManyHasABoundedNumberOfReadsUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths := fill(t, w.Server, 300, 10)
		w.Link.SetLatency(50 * time.Millisecond)
		var mu sync.Mutex
		var arrived []int
		var last time.Time
		defer w.Server.Observe(func(r zktest.Request) {
			if r.Op != zktest.OpGetData {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if now := time.Now(); !now.Equal(last) {
				arrived, last = append(arrived, 0), now
			}
			arrived[len(arrived)-1]++
		})()
		wantMany(t, w.Session(), paths, 10)
		if want := []int{1, 2, 4, 8, 16, 32, 32}; !slices.Equal(arrived[:min(7, len(arrived))], want) || slices.Max(arrived) != 32 {
			t.Errorf("got %v reads at one moment, want %v and at most 32", arrived, want)
		}
	})
}

// The loop takes nothing: what is read and waits for it is bounded, too.
func TestReadManyReadsLittleAheadOfASlowLoop(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths := fill(t, w.Server, 300, 10)
		before := w.Count(zktest.OpGetData)
		taken := 0
		for _, err := range w.Session().ReadMany(t.Context(), paths, session.ReadData) {
			must(t, err)
			time.Sleep(time.Minute) // all answers have come
			if taken++; taken == 100 {
				break
			}
		}
		if got := w.Count(zktest.OpGetData) - before; got < 100 || got > 132 {
			t.Errorf("got %d reads for 100 nodes, want at most 32 more", got)
		}
	})
}

// A slowLink takes its time for each byte of an answer.
type slowLink struct {
	net.Conn
	perByte time.Duration
}

func (s slowLink) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	time.Sleep(time.Duration(n) * s.perByte)
	return n, err
}

func TestReadManyDelaysNoRenewal(t *testing.T) {
	const perByte = 5 * time.Microsecond // 200 kB in a second
	for name, c := range map[string]struct{ count, size, readers int }{
		"10,000 nodes":                 {10_000, 2_000, 1},
		"large nodes":                  {60, 250_000, 1},
		"10,000 nodes in 100 ReadMany": {10_000, 2_000, 100},
		"large nodes in 30 ReadMany":   {60, 250_000, 30},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := newEnv(t)
				var states clienttest.States
				client := w.Dial("zk:2181", framework.WithStateListener(states.Hear), framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := w.Link.DialContext(ctx, network, address)
					return slowLink{conn, perByte}, err
				}))
				s, err := client.Session(t.Context())
				must(t, err)
				ended := make(chan error, 1)
				binding, err := s.Bind(func(cause error) { ended <- cause }, nil)
				must(t, err)
				defer binding.Release()
				paths, begun := fill(t, w.Server, c.count, c.size), time.Now()
				together(paths, c.readers, func(part []string) { wantMany(t, s, part, c.size) })
				if took, least := time.Since(begun), time.Duration(c.count*c.size)*perByte; took < least || took > least*5/4 || took < 5*clienttest.SessionTimeout {
					t.Errorf("got all nodes after %v, want the link used well, so %v and a little more, several session timeouts", took, least)
				}
				states.Want(t, framework.StateConnected) // the connection was not given up either
				select {
				case cause := <-ended:
					t.Errorf("got the lease ended: %v, want it renewed", cause)
				default:
				}
			})
		})
	}
}
