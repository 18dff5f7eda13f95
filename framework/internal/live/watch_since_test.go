package live_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// since is three nodes that are watched in one request, and a zxid from after their creation.
type since struct {
	*env
	own     string
	zxid    int64
	wakes   map[string]int
	watches map[string]session.Watch
}

// newSince makes the nodes: the last one is the session's own.
func newSince(w *env) *since {
	w.Helper()
	w.Make("/first")
	w.Make("/second")
	own, err := w.Session().CreateProtected(w.Context(), "/dir", "n-", nil)
	if err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
	return &since{env: w, own: own.Path, zxid: own.Stat.Czxid, wakes: map[string]int{}, watches: map[string]session.Watch{}}
}

func (s *since) watch(zxid int64, paths ...string) {
	var nodes []session.WatchedNode
	for _, path := range paths {
		nodes = append(nodes, session.WatchedNode{Path: path, Wake: func() { s.wakes[path]++ }})
	}
	for i, watch := range s.Session().WatchDataSince(zxid, nodes...) {
		s.watches[paths[i]] = watch
	}
	synctest.Wait()
}

func (s *since) want(path string, status framework.Status, read bool, wakes int) {
	s.Helper()
	synctest.Wait()
	got := s.watches[path].View()
	if got.Status != status || (got.Stat != nil) != read || got.Current != (status == framework.StatusPresent) || s.wakes[path] != wakes {
		s.Errorf("%s: got %+v after %d wakes, want status %d after %d; read: %t", path, got, s.wakes[path], status, wakes, read)
	}
}

func (s *since) wantCounts(sets, reads int) {
	s.Helper()
	if got := s.Server.Counts(); got[zktest.OpSetWatches] != sets || got[zktest.OpGetData]+got[zktest.OpExists] != reads {
		s.Errorf("got %d requests that set watches and %d that read, want %d and %d", got[zktest.OpSetWatches],
			got[zktest.OpGetData]+got[zktest.OpExists], sets, reads)
	}
}

func (s *since) stop() {
	for _, watch := range s.watches {
		watch.Stop()
	}
	s.wantWatches(0)
}

func TestWatchesOfSeveralNodesAreOneRequestThatReadsNone(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		if err := w.Server.Delete("/first"); err != nil {
			t.Fatal(err)
		}
		s.watch(s.zxid, "/first", "/second", s.own)
		s.want("/first", framework.StatusGone, false, 1)
		s.want("/second", framework.StatusPresent, false, 0)
		s.want(s.own, framework.StatusPresent, false, 0)
		s.wantCounts(1, 0)
		w.wantWatches(2)
		if err := w.Server.SetData(s.own, []byte("leave")); err != nil {
			t.Fatal(err)
		}
		s.want(s.own, framework.StatusPresent, true, 1)
		if got := s.watches[s.own].View(); string(got.Data) != "leave" || !got.Own {
			t.Errorf("got %+v, want the new data of the session's own node", got)
		}
		s.stop()
	})
}

// The data was changed before the request came: the caller knows other data.
func TestNodeThatHasChangedSinceItWasKnownIsRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		if err := w.Server.SetData(s.own, []byte("leave")); err != nil {
			t.Fatal(err)
		}
		s.watch(s.zxid, "/second", s.own)
		s.want("/second", framework.StatusPresent, false, 0)
		s.want(s.own, framework.StatusPresent, true, 1)
		if got := string(s.watches[s.own].View().Data); got != "leave" {
			t.Errorf("got data %q, want what was written before the watch was set", got)
		}
		s.wantCounts(1, 1)
		s.stop()
	})
}

// Another subscriber has set the watch, with a zxid from after the change that this one does not know of.
func TestSubscriberThatKnowsTooLittleHasTheNodeRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		if err := w.Server.SetData("/second", []byte("new")); err != nil {
			t.Fatal(err)
		}
		stat, _ := w.Server.Stat("/second")
		s.watch(stat.Mzxid, "/second")
		s.want("/second", framework.StatusPresent, false, 0)
		first := s.watches["/second"]
		s.watch(s.zxid, "/second")
		s.want("/second", framework.StatusPresent, true, 2)
		if got := string(s.watches["/second"].View().Data); got != "new" {
			t.Errorf("got data %q, want what was written before the watch was set", got)
		}
		s.wantCounts(1, 1)
		first.Stop()
		s.stop()
	})
}

func TestDeferredWatchOfAKnownNodeReadsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		s.watch(s.zxid, s.own)
		later := s.Session().WatchDataSince(s.zxid, session.WatchedNode{Path: s.own, Wake: func() {}, Deferred: true})[0]
		s.watches[s.own].Stop()
		time.Sleep(time.Second)
		if got := later.View(); got.Status != framework.StatusPresent || !got.Current {
			t.Errorf("got %+v, want the node, which another subscription has set the watch on", got)
		}
		s.wantCounts(1, 0)
		later.Stop()
		w.wantWatches(0)
	})
}

// ClickHouse Keeper before 26.1 closes the connection on the request, and takes no session back. It has refused create2
// before.
func TestServerWithoutCreate2IsNotAskedToSetWatches(t *testing.T) {
	for _, release := range []string{"24.8", "26.1", "26.7"} {
		t.Run(release, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t, zktest.WithKeeper(release))
				client := connect(t, server)
				own, err := enterable(t, client).CreateProtected(t.Context(), "/dir", "n-", nil)
				for errors.Is(err, session.ErrSessionLost) { // create2 costs the first sessions
					own, err = enterable(t, client).CreateProtected(t.Context(), "/dir", "n-", nil)
				}
				if err != nil {
					t.Fatal(err)
				}
				s := enterable(t, client)
				watch := s.WatchDataSince(own.Stat.Czxid, session.WatchedNode{Path: own.Path, Wake: func() {}})[0]
				synctest.Wait()
				if got := watch.View(); got.Status != framework.StatusPresent || !got.Current {
					t.Errorf("got %+v, want the node", got)
				}
				want := 0
				if release == "26.7" {
					want = 1
				}
				if got := server.Counts()[zktest.OpSetWatches]; got != want {
					t.Errorf("got %d requests, want %d", got, want)
				}
				watch.Stop()
			})
		})
	}
}

// spoilSets has the server answer setWatches with an error, or hang up on it.
func spoilSets(server *zktest.Server, hangUp bool, asked *atomic.Int32) framework.Option {
	return framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := server.DialContext(ctx, network, address)
		var xid []byte
		return &framed{
			Conn: conn,
			request: func(op zktest.Op, frame []byte) bool {
				if op == zktest.OpSetWatches {
					asked.Add(1)
				}
				if op == zktest.OpSetWatches && !hangUp {
					xid = append([]byte(nil), frame[4:8]...)
				}
				return true
			},
			answer: func(frame []byte) []byte {
				if xid != nil && string(frame[4:8]) == string(xid) {
					const unimplemented = -6
					binary.BigEndian.PutUint32(frame[16:], uint32(1<<32+unimplemented))
				}
				return frame
			},
		}, err
	})
}

func TestNodesAreReadWhereTheServerDoesNotTakeSetWatches(t *testing.T) {
	for name, hangUp := range map[string]bool{"unimplemented": false, "it hangs up": true} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t)
				var asked atomic.Int32
				for i := range 20 {
					if hangUp {
						server.DropRequest(zktest.Match{Op: zktest.OpSetWatches, Nth: i + 1})
					}
				}
				client := connect(t, server, spoilSets(server, hangUp, &asked))
				s := enterable(t, client)
				own, err := s.CreateProtected(t.Context(), "/dir", "n-", nil)
				if err != nil {
					t.Fatal(err)
				}
				for range 5 {
					watch := enterable(t, client).WatchDataSince(own.Stat.Czxid, session.WatchedNode{Path: own.Path, Wake: func() {}})[0]
					time.Sleep(5 * time.Second)
					if got := watch.View(); got.Status != framework.StatusPresent || got.Stat == nil {
						t.Errorf("got %+v, want the node, read", got)
					}
					watch.Stop()
					if _, err := enterable(t, client).CreateProtected(t.Context(), "/dir", "n-", nil); err != nil {
						t.Fatal(err)
					}
				}
				before := asked.Load()
				enterable(t, client).WatchDataSince(own.Stat.Czxid, session.WatchedNode{Path: own.Path, Wake: func() {}})
				synctest.Wait()
				if got := asked.Load() - before; before == 0 || got != 0 || !client.State().IsConnected() {
					t.Errorf("got %d further requests and state %v, want none, and a connection", got, client.State())
				}
			})
		})
	}
}

// Since 3.8.4 and 3.9.2 the server sends no event of such a node, and setWatches does not say so.
func TestNodesThatMayNotBeReadCostASessionOneTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		for _, path := range []string{"/hidden1", "/hidden2"} {
			w.Create(path, framework.WithACL(zk.ACL{Perms: zk.PermAll &^ zk.PermRead, Scheme: "world", ID: "anyone"}))
		}
		hidden1, _ := w.Server.Stat("/hidden1")
		hidden2, _ := w.Server.Stat("/hidden2")
		zxid := max(hidden1.Czxid, hidden2.Czxid)
		s.watch(zxid, "/hidden1")
		s.want("/hidden1", framework.StatusPresent, false, 0)
		time.Sleep(2 * s.Session().Timeout())
		if got := s.watches["/hidden1"].View(); got.Status != framework.StatusFailed {
			t.Errorf("got %+v after two session timeouts, want the refusal", got)
		}
		sets := w.Count(zktest.OpSetWatches)
		s.watch(zxid, "/hidden2", "/second")
		if got := s.watches["/hidden2"].View(); got.Status != framework.StatusFailed {
			t.Errorf("got %+v at once, want the refusal", got)
		}
		s.want("/second", framework.StatusPresent, true, 1)
		if got := w.Count(zktest.OpSetWatches) - sets; got != 0 {
			t.Errorf("got %d requests that set watches, want none: the session reads each node", got)
		}
		s.stop()
	})
}
