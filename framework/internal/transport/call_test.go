package transport_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

var open = zk.WorldACL(zk.PermAll)

// do sends one call and waits for its answer, whatever it is.
func do(t *testing.T, tr *transport.Transport, build func(done func()) *transport.Call) {
	t.Helper()
	done := make(chan struct{})
	if !tr.Send(build(func() { close(done) })) {
		t.Fatal("got the call refused, want an attached transport that takes it")
	}
	<-done
}

// A lock sends several calls for each acquire. The body of one that is not long lies in the call itself.
func TestACallIsOneAllocation(t *testing.T) {
	const path = "/locks/0123456789/_c_0123456789abcdef0123456789abcdef-lock-0000000000"
	var made *transport.Call
	onStat := func(*zk.Stat, error) {}
	onCreate := func(string, *zk.Stat, error) {}
	onChildren := func([]string, *zk.Stat, error) {}
	onData := func([]byte, *zk.Stat, error) {}
	onEnd := func(error) {}
	for name, build := range map[string]func(){
		"create": func() {
			made = transport.Create(path, nil, open, transport.EphemeralSequential, 0, onCreate)
		},
		"delete":         func() { made = transport.Delete(path, -1, onEnd) },
		"exists":         func() { made = transport.Exists(path, true, onStat) },
		"children":       func() { made = transport.Children(path, true, onChildren) },
		"get":            func() { made = transport.Get(path, true, onData) },
		"sync":           func() { made = transport.Sync(path, onEnd) },
		"remove watches": func() { made = transport.RemoveWatches(path, transport.DataWatch, onEnd) },
	} {
		if got := testing.AllocsPerRun(100, build); got != 1 || made == nil {
			t.Errorf("%s: got %v allocations, want 1", name, got)
		}
	}
}

func TestEveryCallIsUnderstoodByTheServer(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		tr, heard := start(t, srv.DialContext)
		attach(t, heard)

		for _, c := range []struct {
			kind       int32
			ttl        time.Duration
			path, want string
		}{
			{transport.Persistent, 0, "/p", "/p"},
			{transport.Ephemeral, 0, "/e", "/e"},
			{transport.PersistentSequential, 0, "/p/s-", "/p/s-0000000000"},
			{transport.EphemeralSequential, 0, "/p/s-", "/p/s-0000000001"},
			{transport.Container, 0, "/c", "/c"},
			{transport.TTL, time.Hour, "/t", "/t"},
			{transport.TTLSequential, time.Hour, "/p/t-", "/p/t-0000000002"},
		} {
			do(t, tr, func(done func()) *transport.Call {
				return transport.Create(c.path, []byte("x"), open, c.kind, c.ttl, func(path string, stat *zk.Stat, err error) {
					defer done()
					there, _ := srv.Stat(c.want)
					if err != nil || path != c.want || stat.Czxid != there.Czxid || stat.DataLength != 1 {
						t.Errorf("create of kind %d: %s, %+v, %v", c.kind, path, stat, err)
					}
				})
			})
		}
		do(t, tr, func(done func()) *transport.Call {
			return transport.Set("/p", []byte("new"), 0, func(stat *zk.Stat, err error) {
				defer done()
				if err != nil || stat.Version != 1 {
					t.Errorf("set: %+v, %v", stat, err)
				}
			})
		})
		do(t, tr, func(done func()) *transport.Call {
			return transport.Get("/p", false, func(data []byte, stat *zk.Stat, err error) {
				defer done()
				if err != nil || string(data) != "new" || stat.NumChildren != 3 {
					t.Errorf("get: %q, %+v, %v", data, stat, err)
				}
			})
		})
		do(t, tr, func(done func()) *transport.Call {
			return transport.Children("/p", false, func(children []string, stat *zk.Stat, err error) {
				defer done()
				if slices.Sort(children); err != nil || !slices.Equal(children, srv.Children("/p")) || stat.Cversion != 3 {
					t.Errorf("children: %q, %+v, %v", children, stat, err)
				}
			})
		})
		do(t, tr, func(done func()) *transport.Call {
			return transport.Exists("/no", false, func(stat *zk.Stat, err error) {
				defer done()
				if stat != nil || !errors.Is(err, zk.ErrNoNode) {
					t.Errorf("exists: %+v, %v", stat, err)
				}
			})
		})
		acl := []zk.ACL{{Perms: zk.PermRead | zk.PermAdmin, Scheme: "world", ID: "anyone"}, {Perms: zk.PermAll, Scheme: "ip", ID: "127.0.0.1"}}
		do(t, tr, func(done func()) *transport.Call {
			return transport.SetACL("/p", acl, -1, func(stat *zk.Stat, err error) {
				defer done()
				if err != nil || stat.Aversion != 1 {
					t.Errorf("set ACL: %+v, %v", stat, err)
				}
			})
		})
		do(t, tr, func(done func()) *transport.Call {
			return transport.GetACL("/p", func(got []zk.ACL, stat *zk.Stat, err error) {
				defer done()
				if err != nil || !slices.Equal(got, acl) || stat.Aversion != 1 {
					t.Errorf("ACL: %v, %+v, %v", got, stat, err)
				}
			})
		})
		do(t, tr, func(done func()) *transport.Call {
			return transport.Multi([]transport.Op{
				transport.CheckOp("/p", 1), transport.CreateOp("/m-", nil, open, transport.PersistentSequential),
				transport.SetOp("/c", []byte("1"), -1), transport.DeleteOp("/t", -1),
			}, func(results []transport.OpResult, err error) {
				defer done()
				if err != nil || len(results) != 4 || results[1].Path == "" || results[2].Stat.Version != 1 || results[3].Err != nil {
					t.Errorf("multi: %+v, %v", results, err)
				}
			})
		})
		do(t, tr, func(done func()) *transport.Call {
			return transport.Multi([]transport.Op{
				transport.CheckOp("/p", 1), transport.DeleteOp("/p", -1), transport.DeleteOp("/c", -1),
			}, func(results []transport.OpResult, err error) {
				defer done()
				if err != nil || len(results) != 3 || results[0].Err != nil || !errors.Is(results[1].Err, zk.ErrNotEmpty) || results[2].Err == nil {
					t.Errorf("failed multi: %+v, %v", results, err)
				}
			})
		})
		do(t, tr, func(done func()) *transport.Call {
			return transport.Delete("/e", -1, func(err error) {
				defer done()
				if err != nil || srv.Exists("/e") {
					t.Errorf("delete: %v", err)
				}
			})
		})
		do(t, tr, func(done func()) *transport.Call {
			return transport.RemoveWatches("/p", transport.DataWatch, func(err error) {
				defer done()
				if !errors.Is(err, transport.Code(-121)) {
					t.Errorf("remove watches: %v", err)
				}
			})
		})
	})
}

func TestWatchesFireInOrderWithAnswersAndCanBeTakenBack(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		tr, heard := start(t, srv.DialContext)
		attach(t, heard)
		for _, path := range []string{"/a", "/b", "/kept"} {
			if err := srv.Create(path, nil); err != nil {
				t.Fatal(err)
			}
		}
		nothing := func(*zk.Stat, error) {}
		tr.Send(transport.Get("/a", true, func([]byte, *zk.Stat, error) {}), transport.Children("/b", true, func([]string, *zk.Stat, error) {}),
			transport.Exists("/later", true, nothing), transport.Exists("/kept", true, nothing))
		tr.Send(transport.RemoveWatches("/kept", transport.DataWatch, func(err error) {
			if err != nil {
				t.Error(err)
			}
		}))
		synctest.Wait()
		if n := srv.WatchCount(); n != 3 {
			t.Errorf("%d watches", n)
		}
		var order []string
		note := func(what string) func(err error) { return func(error) { order = append(order, what) } }
		tr.Send(transport.Delete("/a", -1, note("/a")), transport.Delete("/b", -1, note("/b")), transport.Delete("/kept", -1, note("/kept")))
		if err := srv.Create("/later", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want := []transport.WatchEvent{
			{Type: zk.EventNodeDeleted, Path: "/a"}, {Type: zk.EventNodeDeleted, Path: "/b"}, {Type: zk.EventNodeCreated, Path: "/later"},
		}
		slices.SortFunc(heard.watched, func(a, b transport.WatchEvent) int { return slices.Compare([]string{a.Path}, []string{b.Path}) })
		if !slices.Equal(heard.watched, want) || !slices.Equal(order, []string{"/a", "/b", "/kept"}) {
			t.Errorf("heard %v, answered %q", heard.watched, order)
		}
		if n := srv.WatchCount(); n != 0 {
			t.Errorf("%d watches are left", n)
		}
	})
}

// segments counts writes, each of which is one segment.
type segments struct {
	net.Conn
	mu    sync.Mutex
	sizes []int
}

func (s *segments) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.sizes = append(s.sizes, len(p))
	s.mu.Unlock()
	return s.Conn.Write(p)
}

func TestCallsThatAreSentTogetherLeaveInOneSegment(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		var conn *segments
		tr, heard := start(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := srv.DialContext(ctx, network, address)
			conn = &segments{Conn: raw}
			return conn, err
		})
		attach(t, heard)
		var answers []string
		create := transport.Create("/n-", nil, open, transport.EphemeralSequential, 0, func(string, *zk.Stat, error) { answers = append(answers, "create") })
		list := transport.Children("/", false, func(names []string, _ *zk.Stat, _ error) {
			answers = append(answers, "list")
			if !slices.Contains(names, "n-0000000000") {
				t.Errorf("the listing is %q", names)
			}
		})
		before := len(conn.sizes)
		tr.Send(create, list)
		synctest.Wait()
		if got, want := conn.sizes[before:], []int{create.Size() + list.Size() + 8}; !slices.Equal(got, want) {
			t.Errorf("written in segments of %v bytes, want %v", got, want)
		}
		if !slices.Equal(answers, []string{"create", "list"}) {
			t.Errorf("answered %q", answers)
		}
	})
}

func TestEveryAnswerSaysHowFarItReached(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, zktest.New(t).DialContext)
		attach(t, heard)
		time.Sleep(timeout + timeout/6) // three pings
		pings := heard.answers()
		if len(pings) != 3 || slices.ContainsFunc(pings, func(a answer) bool { return a.reach != transport.ReachServer }) {
			t.Errorf("pings: %v", pings)
		}
		for _, c := range []struct {
			call  func(done func()) *transport.Call
			reach transport.Reach
		}{
			{func(done func()) *transport.Call {
				return transport.Exists("/", false, func(*zk.Stat, error) { done() })
			}, transport.ReachServer},
			{func(done func()) *transport.Call { return transport.Sync("/", func(error) { done() }) }, transport.ReachLeader},
			{func(done func()) *transport.Call { return transport.Delete("/no", -1, func(error) { done() }) }, transport.ReachMajority},
			{func(done func()) *transport.Call {
				return transport.Set("/", nil, -1, func(*zk.Stat, error) { done() })
			}, transport.ReachMajority},
			{func(done func()) *transport.Call {
				return transport.Multi(nil, func([]transport.OpResult, error) { done() })
			}, transport.ReachMajority},
			{func(done func()) *transport.Call {
				return transport.Create("/x", nil, nil, transport.Persistent, 0, func(string, *zk.Stat, error) { done() })
			}, transport.ReachServer}, // an invalid ACL may be refused by the server at hand
		} {
			do(t, tr, c.call)
			all := heard.answers()
			if got := all[len(all)-1]; got.reach != c.reach || got.received.Before(got.sent) {
				t.Errorf("answer %v, want reach %v", got, c.reach)
			}
		}
	})
}

func TestCallsAreCompletedWithErrBrokenBeforeTheDetachmentIsReported(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		tr, heard := start(t, srv.DialContext)
		attach(t, heard)
		release := srv.HoldRequest(zktest.Match{Op: zktest.OpExists})
		defer release()
		broken := 0
		for range 5 {
			tr.Send(transport.Exists("/", false, func(_ *zk.Stat, err error) {
				if errors.Is(err, transport.ErrBroken) && heard.count("detached") == 0 {
					broken++
				}
			}))
		}
		synctest.Wait()
		tr.Break(errors.New("enough"))
		eventually(t, "attached again", func() bool { return heard.count("attached") == 2 })
		if broken != 5 {
			t.Errorf("%d of 5 were completed", broken)
		}
	})
}

func TestNothingIsTakenWithoutAConnection(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		link := zktest.New(t).NewLink()
		link.Cut()
		tr, _ := start(t, link.DialContext)
		time.Sleep(time.Second)
		if tr.Send(transport.Sync("/", func(error) { t.Error("completed") })) {
			t.Error("got a call taken without a connection, want it refused")
		}
		tr.Break(errors.New("nothing to break"))
	})
}
