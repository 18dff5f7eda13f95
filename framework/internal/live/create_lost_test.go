package live_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// The answer to a create is lost, and the client comes back to a server that has not heard of the node yet: its listing
// alone would say that there is none. It proves something behind a transaction only, and nothing if that server refuses
// to take the transaction just then.
func TestALostCreateIsFoundAtAServerThatIsBehind(t *testing.T) {
	for name, refusals := range map[string]int32{"it catches up": 0, "it refuses to at first": 3} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				ensemble := zktest.NewEnsemble(2)
				t.Cleanup(func() { _ = ensemble.Close() })
				leader, follower := ensemble.Server(0), ensemble.Server(1)
				must(t, leader.Create("/dir", nil))
				var dials, left atomic.Int32
				left.Store(refusals)
				client := connect(t, leader, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
					if dials.Add(1) == 1 {
						return leader.DialContext(ctx, network, address)
					}
					conn, err := follower.DialContext(ctx, network, address)
					return refusing(conn, zktest.OpMulti, &left), err
				}))
				s := enterable(t, client)
				ensemble.SetLag(1, 2*time.Second)
				leader.DropReply(zktest.Match{Op: zktest.OpCreate2})
				entry, err := s.CreateProtected(t.Context(), "/dir", "n-", nil)
				must(t, err)
				if n := leader.Children("/dir"); len(n) != 1 || entry.Path != "/dir/"+n[0] {
					t.Errorf("entered as %s, there are %q", entry.Path, n)
				}
				if dials.Load() < 2 || left.Load() > 0 {
					t.Errorf("%d connections, %d refusals left", dials.Load(), left.Load())
				}
			})
		})
	}
}

// refusing is a connection to a server that answers requests of a kind with an error, as long as some are left, and
// does not execute them.
func refusing(conn net.Conn, kind zktest.Op, left *atomic.Int32) net.Conn {
	var refusals []byte
	return &framed{
		Conn: conn,
		request: func(op zktest.Op, frame []byte) (pass bool) {
			if op != kind || left.Add(-1) < 0 {
				return true
			}
			refusals = binary.BigEndian.AppendUint32(refusals, 16)
			refusals = append(refusals, frame[4:8]...)
			refusals = binary.BigEndian.AppendUint64(refusals, 0)
			refusals = binary.BigEndian.AppendUint32(refusals, 1<<32-7) // OPERATIONTIMEOUT
			return false
		},
		answer: func(frame []byte) []byte { // behind the refusals
			frame, refusals = append(refusals, frame...), nil
			return frame
		},
	}
}

// The answer to a create is lost, and the next connection leads to a deposed leader. It answers syncs and listings, and
// has never heard of the node: what it says proves nothing.
func TestALostCreateThatADeposedLeaderDeniesIsFound(t *testing.T) {
	deposedNext(t, func(t *testing.T, leader, _ *zktest.Server, s framework.Session, conns *atomic.Int32) {
		entry, err := s.CreateProtected(t.Context(), "/dir", "n-", nil)
		must(t, err)
		if n := leader.Children("/dir"); len(n) != 1 || entry.Path != "/dir/"+n[0] {
			t.Errorf("entered as %s, there are %q", entry.Path, n)
		}
		if got := conns.Load(); got != 3 {
			t.Errorf("got %d connections, want 3", got)
		}
	})
}

// The same, and the caller has left when the next connection comes.
func TestALostCreateThatADeposedLeaderDeniesIsRemoved(t *testing.T) {
	deposedNext(t, func(t *testing.T, leader, behind *zktest.Server, s framework.Session, conns *atomic.Int32) {
		behind.RefuseConnections(true)
		giveUp(t, s)
		if n := leader.Children("/dir"); len(n) != 1 {
			t.Fatalf("the test needs a node that was made: %q", n)
		}
		behind.RefuseConnections(false)
		time.Sleep(10 * time.Second)
		if n := leader.Children("/dir"); len(n) != 0 || s.Err() != nil || conns.Load() != 3 {
			t.Errorf("left: %q; the session: %v; got %d connections, want 3", n, s.Err(), conns.Load())
		}
	})
}

// deposedNext runs a test whose create in /dir loses its answer, and whose next connection leads to a deposed leader.
func deposedNext(t *testing.T, test func(t *testing.T, leader, behind *zktest.Server, s framework.Session, conns *atomic.Int32)) {
	for range 10 { // the client may act before it hears of the hang-up
		zktest.Bubble(t, func(t *testing.T) {
			ensemble := zktest.NewEnsemble(2)
			t.Cleanup(func() { _ = ensemble.Close() })
			leader, behind := ensemble.Server(0), ensemble.Server(1)
			must(t, leader.Create("/dir", nil))
			var conns atomic.Int32
			client := connect(t, leader, framework.WithDialer(func(ctx context.Context, network, address string) (conn net.Conn, err error) {
				if conns.Load() == 1 {
					if conn, err = behind.DialContext(ctx, network, address); err == nil {
						conn = deposed(conn)
					}
				} else {
					conn, err = leader.DialContext(ctx, network, address)
				}
				if err == nil {
					conns.Add(1)
				}
				return conn, err
			}))
			s := enterable(t, client)
			ensemble.SetLag(1, time.Minute)
			leader.DropReply(zktest.Match{Op: zktest.OpCreate2})
			test(t, leader, behind, s, &conns)
		})
	}
}

// deposed is a connection to a deposed leader: it answers syncs, but no transaction, nor what stands behind one. It
// hangs up after a listing, or a second after a transaction.
func deposed(conn net.Conn) net.Conn {
	var synced []byte
	var waits bool
	d := &hangingUp{}
	d.framed = framed{
		Conn: conn,
		request: func(op zktest.Op, frame []byte) (pass bool) {
			switch {
			case op == zktest.OpSync:
				path := frame[12:]
				synced = binary.BigEndian.AppendUint32(synced, uint32(16+len(path)))
				synced = append(synced, frame[4:8]...)
				synced = binary.BigEndian.AppendUint64(synced, 0)
				synced = append(binary.BigEndian.AppendUint32(synced, 0), path...)
				return false
			case op == zktest.OpMulti && !waits:
				waits = true
				time.AfterFunc(time.Second, func() { conn.Close() })
			}
			return !waits
		},
		answer: func(frame []byte) []byte {
			if synced != nil {
				d.over = true
			}
			return append(synced, frame...)
		},
	}
	return d
}

type hangingUp struct {
	framed
	over bool // after what is incoming
}

func (h *hangingUp) Read(p []byte) (int, error) {
	if h.over && len(h.incoming) == 0 {
		return 0, io.EOF
	}
	return h.framed.Read(p)
}

// The client need not have the right to read the root, wherever the answer says so.
func TestALostCreateIsFoundWithoutTheRightToReadTheRoot(t *testing.T) {
	const noAuth = -102
	for name, dialed := range map[string]func(net.Conn) net.Conn{
		"in the results": func(conn net.Conn) net.Conn { return conn },
		"in the header":  func(conn net.Conn) net.Conn { return forged(conn, zktest.OpMulti, noAuth) },
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t)
				must(t, server.Create("/dir", nil))
				client := connect(t, server, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := server.DialContext(ctx, network, address)
					return dialed(conn), err
				}))
				if _, err := client.SetACL(t.Context(), "/", zk.DigestACL(zk.PermAll, "some", "body"), 0); err != nil {
					t.Fatal(err)
				}
				server.DropReply(zktest.Match{Op: zktest.OpCreate2})
				entry, err := enterable(t, client).CreateProtected(t.Context(), "/dir", "n-", nil)
				must(t, err)
				if n := server.Children("/dir"); len(n) != 1 || entry.Path != "/dir/"+n[0] {
					t.Errorf("entered as %s, there are %q", entry.Path, n)
				}
			})
		})
	}
}

// A server has hung up on a create, so the next one asks for something else before. The server cannot answer that just
// then: the caller does not hear of it.
func TestCreateProtectedOutlastsAServerThatIsBusyBeforeTheNextTry(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		must(t, server.Create("/dir", nil))
		var left atomic.Int32
		s := enterable(t, connect(t, server, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := server.DialContext(ctx, network, address)
			return refusing(conn, zktest.OpSync, &left), err
		})))
		left.Store(2)
		server.DropRequest(zktest.Match{Op: zktest.OpCreate2})
		entry, err := s.CreateProtected(t.Context(), "/dir", "n-", nil)
		must(t, err)
		if n := server.Children("/dir"); len(n) != 1 || entry.Path != "/dir/"+n[0] || left.Load() > 0 {
			t.Errorf("entered as %s, there are %q, %d refusals left", entry.Path, n, left.Load())
		}
	})
}

// giveUp creates a node in /dir until its context ends.
func giveUp(t *testing.T, s framework.Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.CreateProtected(ctx, "/dir", "n-", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

// However many creates were given up: a connection begins with one transaction for all of them.
func TestLostCreatesThatAreGivenUpAreLookedForBehindOneTransaction(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		const creates = 3
		w.Make("/dir")
		s := w.Session()
		w.Server.DelayReply(zktest.Match{Op: zktest.OpCreate2}, time.Minute) // the replies behind it wait, too
		var callers sync.WaitGroup
		for range creates {
			callers.Go(func() { giveUp(t, s) })
		}
		synctest.Wait()
		w.Server.RefuseConnections(true)
		w.Server.CutAll()
		callers.Wait()
		if n := w.Server.Children("/dir"); len(n) != creates {
			t.Fatalf("the test needs %d nodes that were made: %q", creates, n)
		}
		before := w.Count(zktest.OpMulti)
		w.Server.RefuseConnections(false)
		wantNoNode(t, w, s, "/dir")
		if got := w.Count(zktest.OpMulti) - before; got != 1 {
			t.Errorf("got %d transactions, want 1", got)
		}
	})
}

// The context ends while there is no connection, and whether the node was made is not known: it is looked for on the
// next one.
func TestALostCreateThatIsGivenUpWithoutAConnectionLeavesNoNode(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		must(t, server.Create("/dir", nil))
		client := connect(t, server)
		s := enterable(t, client)
		server.DropReply(zktest.Match{Op: zktest.OpCreate2})
		server.RefuseConnections(true)
		giveUp(t, s)
		if n := server.Children("/dir"); len(n) != 1 {
			t.Fatalf("the test needs a node that was made: %q", n)
		}
		server.RefuseConnections(false)
		time.Sleep(5 * time.Second)
		if n := server.Children("/dir"); len(n) != 0 || s.Err() != nil {
			t.Errorf("left: %q; the session: %v", n, s.Err())
		}
	})
}

// The same, and the next connection leads to a server that has not heard of the node yet: its listing alone would say
// that there is nothing to remove. It may also refuse to catch up at first.
func TestALostCreateThatIsGivenUpIsRemovedByWayOfAServerThatIsBehind(t *testing.T) {
	for _, refusals := range []int32{0, 1} {
		givenUpBehind(t, refusals)
	}
}

func givenUpBehind(t *testing.T, refusals int32) {
	zktest.Bubble(t, func(t *testing.T) {
		var left atomic.Int32
		left.Store(refusals)
		ensemble := zktest.NewEnsemble(2)
		t.Cleanup(func() { _ = ensemble.Close() })
		leader, follower := ensemble.Server(0), ensemble.Server(1)
		must(t, leader.Create("/dir", nil))
		client := connect(t, leader, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := leader.DialContext(ctx, network, address)
			if err == nil {
				return conn, nil
			}
			conn, err = follower.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return refusing(conn, zktest.OpMulti, &left), nil
		}))
		s := enterable(t, client)
		ensemble.SetLag(1, 5*time.Second)
		leader.DropReply(zktest.Match{Op: zktest.OpCreate2})
		leader.RefuseConnections(true)
		follower.RefuseConnections(true)
		giveUp(t, s)
		follower.RefuseConnections(false)
		time.Sleep(2 * time.Second)
		if behind, n := follower.Children("/dir"), leader.Children("/dir"); !s.Connected() || len(behind) != 0 || len(n) != 1 {
			t.Fatalf("connected: %t; the follower has %q, the leader %q: the test needs a node that the follower lacks", s.Connected(), behind, n)
		}
		time.Sleep(10 * time.Second)
		if n := leader.Children("/dir"); len(n) != 0 || s.Err() != nil {
			t.Errorf("got nodes %q, session error %v; want none of either", n, s.Err())
		}
	})
}

// The context ends during the search for a node whose creation was not answered: the search goes on without the caller.
// A context of another client's lease ends with an error that would be worth another try, were it the session's.
func TestALostCreateThatIsGivenUpDuringItsSearchLeavesNoNode(t *testing.T) {
	for name, cause := range map[string]error{
		"time": context.DeadlineExceeded, "another session": fmt.Errorf("lease: %w", session.ErrSessionLost),
		"another connection": fmt.Errorf("lease: %w", session.ErrConnectionLost),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/dir")
				s := w.Session()
				w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
				answer := w.Server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*time.Second, func() { cancel(cause) })
				_, err := s.CreateProtected(ctx, "/dir", "n-", nil)
				wantErr(t, err, cause)
				if n := w.Server.Children("/dir"); len(n) != 1 {
					t.Fatalf("got %q, the test needs a node that was made", n)
				}
				answer()
				wantNoNode(t, w, s, "/dir")
			})
		})
	}
}

// An answer that is no success and does not say either that nothing was done: the node is looked for.
func TestCreateProtectedWhoseAnswerLeavesOpenWhetherItWasDoneLeavesNoNode(t *testing.T) {
	const systemError = -1
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		must(t, server.Create("/dir", nil))
		client := connect(t, server, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := server.DialContext(ctx, network, address)
			return forged(conn, zktest.OpCreate2, systemError), err
		}))
		s := enterable(t, client)
		if _, err := s.CreateProtected(t.Context(), "/dir", "n-", nil); err == nil || live.IsAnswer(err) || live.Retryable(err) {
			t.Fatalf("got %v, want an error that is neither definite nor worth another try", err)
		}
		if n := server.Counts()[zktest.OpCreate2]; n != 1 {
			t.Errorf("got %d creations, want 1", n)
		}
		time.Sleep(5 * time.Second)
		if n := server.Children("/dir"); len(n) != 0 || s.Err() != nil {
			t.Errorf("got nodes %q, session error %v; want none of either", n, s.Err())
		}
	})
}

// forged is a connection on which answers to one kind of request say that it failed, although it was executed.
func forged(conn net.Conn, kind zktest.Op, code int32) net.Conn {
	asked := map[uint32]bool{} // the xids of such requests
	return &framed{
		Conn: conn,
		request: func(op zktest.Op, frame []byte) (pass bool) {
			if op == kind {
				asked[binary.BigEndian.Uint32(frame[4:])] = true
			}
			return true
		},
		answer: func(frame []byte) []byte {
			if asked[binary.BigEndian.Uint32(frame[4:])] {
				frame = binary.BigEndian.AppendUint32(frame[:16], uint32(code)) // xid and zxid stay, the body goes
				binary.BigEndian.PutUint32(frame, 16)
			}
			return frame
		},
	}
}

// What the provider says of the lock's own node is that node's ACL, and not what it says of its parent.
func TestTheACLProviderIsAskedForAProtectedNode(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		provider := func(path string) []zk.ACL {
			if strings.HasPrefix(path, "/dir/") {
				return zk.WorldACL(zk.PermRead | zk.PermDelete)
			}
			return zk.WorldACL(zk.PermAll)
		}
		client := connect(t, server, framework.WithACLProvider(provider))
		entry, err := enterable(t, client).CreateProtected(t.Context(), "/dir", "n-", nil)
		must(t, err)
		for path, want := range map[string]int32{entry.Path: zk.PermRead | zk.PermDelete, "/dir": zk.PermAll} {
			if acl, _, err := client.ACL(t.Context(), path); err != nil || len(acl) != 1 || acl[0].Perms != want {
				t.Errorf("%s: %+v, %v, want permissions %d", path, acl, err, want)
			}
		}
	})
}
