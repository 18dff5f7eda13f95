package live_test

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

const oneWay = 10 * time.Millisecond

// A readGauge counts the reads of one session that are under way, on its connection.
type readGauge struct {
	session session.Session

	mu       sync.Mutex
	underWay map[uint32]bool // by xid
	most     int
	sent     int
}

// gauged gives a session whose reads are counted, over a link with latency.
func gauged(t *testing.T, w *env) *readGauge {
	t.Helper()
	g := &readGauge{underWay: map[uint32]bool{}}
	client := w.Dial("zk:2181", framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := w.Link.DialContext(ctx, network, address)
		g.mu.Lock()
		defer g.mu.Unlock()
		clear(g.underWay)
		return &framed{Conn: conn, request: g.request, answer: g.answer}, err
	}))
	var err error
	if g.session, err = client.Session(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Link.SetLatency(oneWay)
	return g
}

func (g *readGauge) request(op zktest.Op, frame []byte) (pass bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if op == zktest.OpGetData {
		g.underWay[binary.BigEndian.Uint32(frame[4:])] = true
		g.most = max(g.most, len(g.underWay))
		g.sent++
	}
	return true
}

func (g *readGauge) answer(frame []byte) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.underWay, binary.BigEndian.Uint32(frame[4:]))
	return frame
}

// reads is how many were sent.
func (g *readGauge) reads() int {
	synctest.Wait() // what was queued is on its way
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sent
}

// wantMost checks how many reads were under way at most, and counts from the beginning.
func (g *readGauge) wantMost(t *testing.T, want int) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.most != want {
		t.Errorf("got at most %d reads under way, want %d", g.most, want)
	}
	g.most = 0
}

// arrivals notes the path of each read that the server executes, and when.
func arrivals(server *zktest.Server) (get func() (paths []string, at []time.Time), stop func()) {
	var mu sync.Mutex
	var paths []string
	var at []time.Time
	stop = server.Observe(func(r zktest.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Op == zktest.OpGetData {
			paths, at = append(paths, r.Path), append(at, time.Now())
		}
	})
	return func() ([]string, []time.Time) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(paths), slices.Clone(at)
	}, stop
}

// together runs f for each part of paths, side by side.
func together(paths []string, parts int, f func(part []string)) {
	var running sync.WaitGroup
	for part := range slices.Chunk(paths, len(paths)/parts) {
		running.Go(func() { f(part) })
	}
	running.Wait()
}

func TestReadManysOfOneSessionHaveOneWindowTogether(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths, g := fill(t, w.Server, 10_000, 10), gauged(t, w)
		begun := time.Now()
		together(paths, 100, func(part []string) { wantMany(t, g.session, part, 10) })
		g.wantMost(t, 32)
		if took, least := time.Since(begun), 10_000/32*2*oneWay; took < least || took > least*11/10 {
			t.Errorf("got all nodes after %v, want %v and little more, so all slots in use", took, least)
		}
	})
}

func TestReadManysThatWaitAreServedInTurn(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths, g := fill(t, w.Server, 2_200, 10), gauged(t, w)
		get, stop := arrivals(w.Server)
		defer stop()
		late := paths[2_000:]
		var lateBegan time.Time
		running := sync.WaitGroup{}
		running.Go(func() {
			time.Sleep(20 * oneWay) // the window is full by now, and all others wait
			lateBegan = time.Now()
			wantMany(t, g.session, late, 10)
		})
		together(paths[:2_000], 10, func(part []string) { wantMany(t, g.session, part, 10) })
		running.Wait()

		order, at := get()
		turns := map[int]int{} // the reads of each ReadMany so far
		for i, path := range order {
			turns[slices.Index(paths, path)/200]++
			behind, ahead := 200, 0
			for reader := range 10 {
				behind, ahead = min(behind, turns[reader]), max(ahead, turns[reader])
			}
			if ahead-behind > 2 && ahead < 200 {
				t.Fatalf("read %d: got a ReadMany %d reads ahead of another, want 2 at most: %v", i, ahead-behind, turns)
			}
		}
		first := slices.Index(order, late[0])
		if before := at[first].Sub(lateBegan); before > 3*oneWay {
			t.Errorf("got the first read of the late ReadMany after %v, want it with the next answers, after %v at most", before, 3*oneWay)
		}
	})
}

func TestReadManysWhoseLoopsAreSlowDelayNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths, g := fill(t, w.Server, 40*100+1_000, 10), gauged(t, w)
		quick := paths[40*100:]
		begun := time.Now()
		wantMany(t, g.session, quick, 10)
		alone := time.Since(begun)

		get, stop := arrivals(w.Server)
		defer stop()
		goOn := make(chan struct{})
		var running sync.WaitGroup
		running.Go(func() {
			together(paths[:40*100], 40, func(part []string) {
				for _, err := range g.session.ReadMany(t.Context(), part, session.ReadData) {
					wantErr(t, err, nil)
					<-goOn
				}
			})
		})
		for node := range 3 {
			time.Sleep(time.Minute)
			for part := range slices.Chunk(paths[:40*100], 100) {
				order, _ := get()
				order = slices.DeleteFunc(order, func(path string) bool { return !slices.Contains(part, path) })
				if got, want := len(order), node+1+32; got != want {
					t.Errorf("got %d reads for a loop that works on node %d, want %d: 32 answers wait", got, node, want)
				}
			}
			for range 40 {
				goOn <- struct{}{}
			}
		}
		begun = time.Now()
		wantMany(t, g.session, quick, 10)
		if took := time.Since(begun); took > alone {
			t.Errorf("got all nodes after %v beside slow loops, want %v as alone at most", took, alone)
		}
		close(goOn)
		running.Wait()
		g.wantMost(t, 32)
	})
}
