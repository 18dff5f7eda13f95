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
		nodes = append(nodes, session.WatchedNode{Path: path, Wake: func() { s.wakes[path]++ }, Readable: true, Doubtful: true})
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
		must(t, w.Server.Delete("/first"))
		s.watch(s.zxid, "/first", "/second", s.own)
		s.want("/first", framework.StatusGone, false, 1)
		s.want("/second", framework.StatusPresent, false, 0)
		s.want(s.own, framework.StatusPresent, false, 0)
		s.wantCounts(1, 0)
		w.wantWatches(2)
		must(t, w.Server.SetData(s.own, []byte("leave")))
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
		must(t, w.Server.SetData(s.own, []byte("leave")))
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
		must(t, w.Server.SetData("/second", []byte("new")))
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

func TestDeferredWatchOfANodeThatWasNotReadReadsIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		s.watch(s.zxid, s.own)
		later := s.Session().WatchDataDeferred(s.own, func() {})
		s.watches[s.own].Stop()
		time.Sleep(s.Session().Timeout() / 32)
		if got := later.View(); got.Status != framework.StatusPresent || got.Stat == nil {
			t.Errorf("got %+v, want the node with its Stat", got)
		}
		s.wantCounts(1, 1)
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
				must(t, err)
				s := enterable(t, client)
				watch := s.WatchDataSince(own.Stat.Czxid, session.WatchedNode{Path: own.Path, Wake: func() {}, Readable: true})[0]
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

// ClickHouse Keeper sends the events of setWatches behind the answer.
func TestEventBehindTheAnswerToSetWatchesIsHeard(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t, zktest.WithKeeper("26.8"))
		client := connect(t, server)
		own, err := enterable(t, client).CreateProtected(t.Context(), "/dir", "n-", nil)
		must(t, err)
		must(t, errors.Join(server.Create("/gone", nil), server.Delete("/gone"), server.SetData(own.Path, []byte("new"))))
		watched := enterable(t, client).WatchDataSince(own.Stat.Czxid,
			session.WatchedNode{Path: own.Path, Wake: func() {}, Readable: true}, session.WatchedNode{Path: "/gone", Wake: func() {}, Readable: true})
		synctest.Wait()
		if got := watched[0].View(); got.Status != framework.StatusPresent || string(got.Data) != "new" {
			t.Errorf("got %+v, want the node as it was changed", got)
		}
		if got := watched[1].View(); got.Status != framework.StatusGone {
			t.Errorf("got %+v of a node that was deleted, want status %d", got, framework.StatusGone)
		}
		if got := server.Counts()[zktest.OpSetWatches]; got != 1 {
			t.Errorf("got %d requests that set watches, want 1", got)
		}
		watched[0].Stop()
		watched[1].Stop()
	})
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
				must(t, err)
				for range 5 {
					watch := enterable(t, client).WatchDataSince(own.Stat.Czxid, session.WatchedNode{Path: own.Path, Wake: func() {}, Readable: true})[0]
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
				enterable(t, client).WatchDataSince(own.Stat.Czxid, session.WatchedNode{Path: own.Path, Wake: func() {}, Readable: true})
				synctest.Wait()
				if got := asked.Load() - before; before == 0 || got != 0 || !client.State().IsConnected() {
					t.Errorf("got %d further requests and state %v, want none, and a connection", got, client.State())
				}
			})
		})
	}
}

// hide makes nodes that the client may not read, and returns a zxid from after that. Since 3.8.4 and 3.9.2 the server
// sends no event of such a node, and setWatches does not say so.
func (s *since) hide(paths ...string) (zxid int64) {
	for _, path := range paths {
		s.Create(path, framework.WithACL(zk.ACL{Perms: zk.PermAll &^ zk.PermRead, Scheme: "world", ID: "anyone"}))
		stat, _ := s.Server.Stat(path)
		zxid = stat.Czxid
	}
	return zxid
}

// wantRead watches nodes with one that may not be read, and finds that none is set without a read.
func (s *since) wantRead(zxid int64, hidden, readable string) {
	s.Helper()
	sets, wakes := s.Count(zktest.OpSetWatches), s.wakes[readable]
	s.watch(zxid, hidden, readable)
	if got := s.watches[hidden].View(); got.Status != framework.StatusFailed {
		s.Errorf("%s: got %+v at once, want the refusal", hidden, got)
	}
	s.want(readable, framework.StatusPresent, true, wakes+1)
	if got := s.Count(zktest.OpSetWatches) - sets; got != 0 {
		s.Errorf("got %d requests that set watches, want none: the client reads each node", got)
	}
}

// A node is not known to be readable: it is read, and refused.
func TestNodeThatIsNotKnownToBeReadableIsRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		zxid := s.hide("/hidden")
		watched := s.Session().WatchDataSince(zxid, session.WatchedNode{Path: "/hidden", Wake: func() {}},
			session.WatchedNode{Path: "/first", Wake: func() {}, Optional: true},
			session.WatchedNode{Path: s.own, Wake: func() {}, Readable: true})
		synctest.Wait()
		if got := watched[0].View(); got.Status != framework.StatusFailed {
			t.Errorf("got %+v, want the refusal", got)
		}
		if watched[1] != nil {
			t.Errorf("got the watch %v, want none: it would have taken a read", watched[1])
		}
		if got := w.Count(zktest.OpSetWatches); got != 1 {
			t.Errorf("got %d requests that set watches, want one for the node that is known to be readable", got)
		}
		watched[0].Stop()
		watched[2].Stop()
		s.stop()
	})
}

func TestNodesThatMayNotBeReadCostAClientAnEighthOfATimeout(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		zxid := s.hide("/hidden1", "/hidden2")
		s.watch(zxid, "/hidden1")
		s.want("/hidden1", framework.StatusPresent, false, 0)
		time.Sleep(s.Session().Timeout() / 8)
		if got := s.watches["/hidden1"].View(); got.Status != framework.StatusFailed {
			t.Errorf("got %+v after an eighth of a session timeout, want the refusal", got)
		}
		s.wantRead(zxid, "/hidden2", "/second")
		s.stop()
	})
}

// The node may not be read, and is gone before it is read: the server says no more than that it is missing. No event
// said so, and others may be lost too.
func TestLateReadThatFindsALostEventHasTheClientReadEachNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		zxid := s.hide("/hidden1", "/hidden2")
		s.watch(zxid, "/hidden1", s.own)
		must(t, w.Server.Delete("/hidden1"))
		s.want("/hidden1", framework.StatusPresent, false, 0)
		time.Sleep(s.Session().Timeout() / 8)
		s.want("/hidden1", framework.StatusGone, false, 1)
		s.want(s.own, framework.StatusPresent, true, 1)
		s.wantRead(zxid, "/hidden2", "/second")
		w.Server.ExpireSession(s.Session().ID())
		time.Sleep(time.Second)
		s.watches = map[string]session.Watch{}
		s.wantRead(zxid, "/hidden2", "/second")
		s.stop()
	})
}

// A cache, say, may meet nodes that it may not read. That says nothing of those that the client knows to be readable.
func TestRefusalOfAnotherWatchDoesNotHaveTheClientReadEachNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := newSince(w)
		s.hide("/hidden")
		s.watches["/hidden"] = s.Session().WatchData("/hidden", func() {})
		s.watch(s.zxid, s.own)
		s.want(s.own, framework.StatusPresent, false, 0)
		s.stop()
	})
}
