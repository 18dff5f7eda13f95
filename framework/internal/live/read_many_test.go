package live_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// fill makes nodes with size bytes each, which end with their number, and returns their paths.
func fill(t *testing.T, server *zktest.Server, count, size int) (paths []string) {
	t.Helper()
	if err := server.Create("/many", nil); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	for i := range count {
		paths = append(paths, fmt.Sprintf("/many/%05d", i))
		if err := server.Create(paths[i], fmt.Append(data, i)); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// wantMany reads the nodes of fill and checks that each is yielded once, in order.
func wantMany(t *testing.T, s session.Session, paths []string, size int) {
	t.Helper()
	i := 0
	for read, err := range s.ReadMany(t.Context(), paths) {
		if err != nil {
			t.Fatalf("got error %v after %d of %d nodes, want none", err, i, len(paths))
		}
		if want := fmt.Sprint(i); read.Path != paths[i] || len(read.Data) != size+len(want) || string(read.Data[size:]) != want || read.Stat == nil || read.Err != nil {
			t.Fatalf("node %d: got %s, %d bytes, %v, error %v, want %s and its data", i, read.Path, len(read.Data), read.Stat, read.Err, paths[i])
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
		for read, err := range w.Session().ReadMany(t.Context(), nil) {
			t.Errorf("no paths: got %+v, %v, want no round", read, err)
		}
	})
}

// Since 3.8.4 and 3.9.2 a server does not even say whether a node exists that may not be read.
func TestReadManySaysWhyANodeIsNotRead(t *testing.T) {
	for version, refuses := range map[string]bool{"3.9.1": false, "3.9.2": true} {
		t.Run(version, func(t *testing.T) { wantReasons(t, version, refuses) })
	}
}

func wantReasons(t *testing.T, version string, refuses bool) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t, zktest.WithVersion(version))
		w := newEnv(t, framework.WithDialer(server.DialContext))
		w.Connected()
		w.Server = server
		w.Make("/there")
		w.Create("/secret", framework.WithACL(zk.WorldACL(zk.PermAll&^zk.PermRead)...))
		before, looks := w.Count(zktest.OpGetData), w.Count(zktest.OpExists)
		var got []session.NodeRead
		for read, err := range w.Session().ReadMany(t.Context(), []string{"/missing", "/secret", "/there"}) {
			wantErr(t, err)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, read)
		}
		if len(got) != 3 {
			t.Fatalf("got %+v, want three nodes", got)
		}
		wantErr(t, got[0].Err, zk.ErrNoNode)
		wantErr(t, got[1].Err, zk.ErrNoAuth)
		if got[0].Stat != nil || (got[1].Stat == nil) != refuses || got[1].Data != nil || got[2].Err != nil || string(got[2].Data) != "1" {
			t.Errorf("got %+v, want no Stat of the missing node, of the secret one unless the server refuses it, and the third", got)
		}
		if reads, exists := w.Count(zktest.OpGetData)-before, w.Count(zktest.OpExists)-looks; reads != 3 || exists != 1 {
			t.Errorf("got %d reads and %d looks, want 3 and 1", reads, exists)
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
		for _, err := range w.Session().ReadMany(t.Context(), paths) {
			if err != nil {
				t.Fatal(err)
			}
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
	for name, c := range map[string]struct{ count, size int }{
		"10,000 nodes": {10_000, 2_000},
		"large nodes":  {60, 250_000},
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
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				binding, err := s.Bind(func(cause error) { ended <- cause }, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer binding.Release()
				paths, begun := fill(t, w.Server, c.count, c.size), time.Now()
				wantMany(t, s, paths, c.size)
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

func TestReadManyGoesOnAfterALostConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths := fill(t, w.Server, 200, 10)
		w.Server.DropReply(zktest.Match{Op: zktest.OpGetData, Path: paths[20]})
		s := w.Session()
		wantMany(t, s, paths, 10)
		if w.Session() != s {
			t.Error("got another session, want the same")
		}
	})
}

// The pauses are those of retry.Pace: 0, 10 ms, 20 ms and so on, each shortened by half at most.
func TestReadManyAsksAnOverloadedServerAgainAfterPauses(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		paths := fill(t, w.Server, 100, 10)
		for n := range 6 {
			w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpGetData, Path: paths[50], Nth: n + 1})
		}
		begun := time.Now()
		wantMany(t, w.Session(), paths, 10)
		if took := time.Since(begun); took < 155*time.Millisecond || took > 310*time.Millisecond {
			t.Errorf("got all nodes after %v, want pauses of 155 to 310 ms", took)
		}
	})
}

func TestReadManyEndsWithItsContextTheSessionOrALongOutage(t *testing.T) {
	ctxEnded := errors.New("enough")
	for name, c := range map[string]struct {
		end   func(w *env, s session.Session, cancel func(error))
		want  error
		after time.Duration
	}{
		"ctx, at a server that hangs": {func(w *env, _ session.Session, cancel func(error)) {
			w.Server.Freeze()
			time.AfterFunc(time.Second, func() { cancel(ctxEnded) })
		}, ctxEnded, time.Second},
		"session": {func(w *env, s session.Session, _ func(error)) { w.Server.ExpireSession(s.ID()) }, framework.ErrSessionLost, time.Second},
		"outage":  {func(w *env, _ session.Session, _ func(error)) { w.Link.Cut() }, framework.ErrConnectionLost, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				paths := fill(t, w.Server, 200, 10)
				w.Link.SetLatency(10 * time.Millisecond)
				s := w.Session()
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				time.AfterFunc(100*time.Millisecond, func() { c.end(w, s, cancel) })
				nodes, begun := 0, time.Now()
				var failed error
				for read, err := range s.ReadMany(ctx, paths) {
					if failed != nil {
						t.Fatalf("got a round after error %v, want the end", failed)
					}
					if failed = err; err == nil && read.Path != paths[nodes] {
						t.Errorf("got %s, want %s", read.Path, paths[nodes])
					}
					nodes++
				}
				if c.want != ctxEnded && !session.ShouldStartOver(ctx, failed) {
					t.Errorf("got error %v, want one after which a recipe begins again", failed)
				}
				if !errors.Is(failed, c.want) || nodes < 2 || nodes > 100 {
					t.Errorf("got error %v after %d rounds, want %v in the middle", failed, nodes, c.want)
				}
				if took := time.Since(begun); took > 100*time.Millisecond+c.after {
					t.Errorf("got the end after %v, want it %v after its cause", took, c.after)
				}
				w.Server.Unfreeze()
			}, framework.WithConnectionTimeout(5*time.Second))
		})
	}
}

// A lateContext runs a function in the first Err after a moment: between the end of a wait and the look at its cause.
type lateContext struct {
	context.Context
	at   time.Time
	late func()
}

func (c *lateContext) Err() error {
	if late := c.late; late != nil && !c.at.IsZero() && !time.Now().Before(c.at) {
		c.late = nil
		late()
	}
	return c.Context.Err()
}

// The wait for a connection has lasted for the connection timeout. Before ReadMany looks why it has ended, the session
// ends, or ctx does: the deadline of the wait is no caller's.
func TestReadManyReportsNoDeadlineOfItsOwn(t *testing.T) {
	const limit = 5 * time.Second
	ctxEnded := errors.New("enough")
	for name, want := range map[string]error{"ctx": ctxEnded, "session": framework.ErrClosed, "outage": framework.ErrConnectionLost} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				paths := fill(t, w.Server, 10, 10)
				s := w.Session()
				inner, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				ctx := &lateContext{Context: inner, late: func() {
					switch want {
					case ctxEnded:
						cancel(ctxEnded)
					case framework.ErrClosed:
						_ = w.Client.Close()
					}
				}}
				var failed error
				for _, err := range s.ReadMany(ctx, paths) {
					if failed = err; err == nil && ctx.at.IsZero() {
						w.Link.Cut()
						ctx.at = time.Now().Add(limit)
					}
				}
				if !errors.Is(failed, want) || errors.Is(failed, context.DeadlineExceeded) {
					t.Errorf("got %v, want %v", failed, want)
				}
			}, framework.WithConnectionTimeout(limit))
		})
	}
}
