package zktest_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

// hosts is a HostProvider without DNS, which would break later bubbles. The
// first attempt after a connection does not count as a full round: it would
// fail what is queued.
type hosts struct{ tries int }

func (*hosts) Init([]string) error { return nil }
func (*hosts) Len() int            { return 1 }
func (h *hosts) Connected()        { h.tries = 0 }
func (h *hosts) Next() (string, bool) {
	h.tries++
	return "server:2181", h.tries > 1
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func dial(t testing.TB, d zk.Dialer, timeout time.Duration) *zk.Conn {
	t.Helper()
	c, events, err := zk.Connect([]string{"server:2181"}, timeout, zk.WithDialer(d), zk.WithHostProvider(&hosts{}),
		zk.WithLogger(quiet{}), zk.WithMaxBufferSize(256<<10), zk.WithMaxConnBufferSize(256<<10))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		for range events { // closed when the connection has wholly ended
		}
	})
	return c
}

// bubble runs f with a server in a testing/synctest bubble.
func bubble(t *testing.T, f func(t *testing.T, srv *zktest.Server), opts ...zktest.Option) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.NewServer(opts...)
		t.Cleanup(func() { srv.Close() })
		f(t, srv)
	})
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var all = zk.WorldACL(zk.PermAll)

func TestListingsAreInAnOrderOfTheirOwnThatRepeats(t *testing.T) {
	var orders [2][]string
	for i := range orders {
		bubble(t, func(t *testing.T, srv *zktest.Server) {
			for name := range 9 {
				srv.Create(fmt.Sprint("/", name), nil)
			}
			orders[i], _, _ = dial(t, srv.Dial, time.Minute).Children("/")
		})
	}
	if !slices.Equal(orders[0], orders[1]) || slices.IsSorted(orders[0]) {
		t.Errorf("got the orders %q and %q, want one that is not that of the names, twice", orders[0], orders[1])
	}
}

func TestBasicOperations(t *testing.T) {
	check := func(t *testing.T, c *zk.Conn) {
		path := must[string](t)(c.Create("/a", []byte("x"), 0, all))
		if path != "/a" {
			t.Fatalf("path %q", path)
		}
		if _, err := c.Create("/a", nil, 0, all); err != zk.ErrNodeExists {
			t.Fatal(err)
		}
		if _, err := c.Create("/no/a", nil, 0, all); err != zk.ErrNoNode {
			t.Fatal(err)
		}
		for i := range 3 {
			got := must[string](t)(c.Create("/a/s-", nil, zk.FlagSequence, all))
			if want := fmt.Sprintf("/a/s-%010d", i); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
		if err := c.Delete("/a/s-0000000001", -1); err != nil {
			t.Fatal(err)
		}
		names, stat, err := c.Children("/a")
		if slices.Sort(names); err != nil || !slices.Equal(names, []string{"s-0000000000", "s-0000000002"}) {
			t.Fatal(names, err)
		}
		if stat.Cversion != 4 || stat.NumChildren != 2 {
			t.Fatalf("%+v", stat)
		}
		stat = must[*zk.Stat](t)(c.Set("/a", []byte("yy"), 0))
		if stat.Version != 1 || stat.DataLength != 2 {
			t.Fatalf("%+v", stat)
		}
		if _, err := c.Set("/a", nil, 0); err != zk.ErrBadVersion {
			t.Fatal(err)
		}
		if err := c.Delete("/a", -1); err != zk.ErrNotEmpty {
			t.Fatal(err)
		}
		if _, err := c.Create("/e", nil, zk.FlagEphemeral, all); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Create("/e/x", nil, 0, all); err != zk.ErrNoChildrenForEphemerals {
			t.Fatal(err)
		}
		_, stat, err = c.Get("/e")
		if err != nil || stat.EphemeralOwner != c.SessionID() {
			t.Fatal(stat, err)
		}
		must[string](t)(c.Sync("/a"))
	}
	t.Run("memory", func(t *testing.T) {
		bubble(t, func(t *testing.T, srv *zktest.Server) { check(t, dial(t, srv.Dial, time.Second)) })
	})
	t.Run("tcp", func(t *testing.T) {
		srv := zktest.NewServer()
		defer srv.Close()
		c, events, err := zk.Connect([]string{srv.Addr()}, time.Minute, zk.WithLogger(quiet{}))
		if err != nil {
			t.Fatal(err)
		}
		check(t, c)
		c.Close()
		for range events {
		}
		if srv.Exists("/e") {
			t.Fatal("got /e after the end of its session, want it gone")
		}
	})
}

func TestMultiAllOrNothing(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, time.Second)
		res, err := c.Multi(
			&zk.CreateRequest{Path: "/a", Acl: all},
			&zk.CreateRequest{Path: "/a/b-", Acl: all, Flags: zk.FlagSequence},
			&zk.SetDataRequest{Path: "/a", Data: []byte("x"), Version: 0})
		if err != nil || res[1].String != "/a/b-0000000000" || res[2].Stat.NumChildren != 1 {
			t.Fatal(res, err)
		}
		before, _ := srv.Stat("/a")
		res, err = c.Multi(
			&zk.DeleteRequest{Path: "/a/b-0000000000", Version: -1},
			&zk.CreateRequest{Path: "/a/c", Acl: all},
			&zk.SetDataRequest{Path: "/a", Version: -1},
			&zk.CheckVersionRequest{Path: "/a", Version: 7},
			&zk.CreateRequest{Path: "/d", Acl: all})
		if err != zk.ErrBadVersion {
			t.Fatal(res, err)
		}
		if after, _ := srv.Stat("/a"); after != before || !srv.Exists("/a/b-0000000000") || srv.Exists("/a/c") {
			t.Fatalf("a failed multi left traces: %+v", after)
		}
	})
}

func TestWatchFiresOnceAndBeforeTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, time.Second)
		_, _, created, err := c.ExistsW("/a")
		if err != nil {
			t.Fatal(err)
		}
		if srv.Watches("/a") != 1 {
			t.Fatal(srv.Watches("/a"))
		}
		must[string](t)(c.Create("/a", nil, 0, all))
		select {
		case e := <-created:
			if e.Type != zk.EventNodeCreated {
				t.Fatal(e)
			}
		default:
			t.Fatal("got the event after the answer, want it before")
		}
		if srv.WatchCount() != 0 {
			t.Fatal(srv.WatchCount())
		}
		_, _, kids, err := c.ChildrenW("/a")
		if err != nil {
			t.Fatal(err)
		}
		if err := srv.Create("/a/x", nil); err != nil {
			t.Fatal(err)
		}
		if e := <-kids; e.Type != zk.EventNodeChildrenChanged {
			t.Fatal(e)
		}
	})
}

func TestSilentSessionEndsAtTheTick(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		c := dial(t, link.Dial, 2*time.Second)
		must[string](t)(c.Create("/e", nil, zk.FlagEphemeral, all))
		_, _, gone, err := dial(t, srv.Dial, time.Minute).ExistsW("/e")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		link.Mute()
		<-gone
		if d := time.Since(start); d <= 2*time.Second || d > 2100*time.Millisecond {
			t.Fatalf("expired after %v", d)
		}
		link.Heal()
	})
}

func TestContainerGoesWithItsLastChild(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, time.Minute)
		must[string](t)(c.CreateContainer("/c", nil, zk.FlagContainer, all))
		must[string](t)(c.CreateContainer("/never", nil, zk.FlagContainer, all))
		must[string](t)(c.Create("/c/x", nil, 0, all))
		time.Sleep(5 * time.Second)
		if err := c.Delete("/c/x", -1); err != nil || !srv.Exists("/c") {
			t.Fatal(err)
		}
		time.Sleep(1001 * time.Millisecond)
		if srv.Exists("/c") || !srv.Exists("/never") {
			t.Fatalf("got /c there: %t, /never there: %t; want false, true", srv.Exists("/c"), srv.Exists("/never"))
		}
	})
}

// Past 2147483647 numbers go on before 3.6. Since then they end, but not for creations that are under way together.
func TestSequenceNumbersEnd(t *testing.T) {
	for _, test := range []struct {
		opt   zktest.Option
		pause time.Duration
		want  []string
	}{
		{zktest.WithVersion("3.5"), time.Second, []string{"2147483647", "-2147483648", "-2147483647"}},
		{zktest.WithVersion("3.6"), 0, []string{"2147483647", "2147483647", "2147483647"}},
		{zktest.WithCommitTime(time.Second), time.Millisecond, []string{"2147483647", "-2147483648", "-2147483647"}},
		{zktest.WithCommitTime(time.Second), time.Second, []string{"2147483647", "2147483647", "2147483647"}},
	} {
		bubble(t, func(t *testing.T, _ *zktest.Server) {
			srv := zktest.New(t, test.opt)
			c := dial(t, srv.Dial, time.Minute)
			must[string](t)(c.Create("/w", nil, 0, all))
			srv.SetCreateCounter("/w", 1<<31-1)
			for i, want := range test.want {
				prefix := fmt.Sprintf("/w/%c", 'a'+i)
				if got := must[string](t)(c.Create(prefix, nil, zk.FlagSequence, all)); got != prefix+want {
					t.Errorf("after %v each: got %s, want %s", test.pause, got, prefix+want)
				}
				time.Sleep(test.pause)
			}
			srv.SetCreateCounter("/w", -5)
			if got := must[string](t)(c.Create("/w/n", nil, zk.FlagSequence, all)); got != "/w/n-000000005" {
				t.Error(got)
			}
		})
	}
}

func TestLatencyIsExact(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		link.SetLatency(7 * time.Millisecond)
		c := dial(t, link.Dial, time.Minute)
		must[string](t)(c.Create("/a", nil, 0, all))
		start := time.Now()
		must[string](t)(c.Create("/b", nil, 0, all))
		if d := time.Since(start); d != 14*time.Millisecond {
			t.Fatal(d)
		}
	})
}

func TestDroppedReplyHappened(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, 10*time.Second)
		srv.DropReply(zktest.Match{Op: zktest.OpCreate, Path: "/a*"})
		if _, err := c.Create("/a1", nil, 0, all); err != zk.ErrConnectionClosed {
			t.Fatal(err)
		}
		if !srv.Exists("/a1") {
			t.Fatal("got no /a1, want the request executed")
		}
		srv.DropRequest(zktest.Match{Op: zktest.OpCreate, Nth: 2})
		must[string](t)(c.Create("/b1", nil, 0, all))
		if _, err := c.Create("/b2", nil, 0, all); err != zk.ErrConnectionClosed {
			t.Fatal(err)
		}
		if srv.Exists("/b2") {
			t.Fatal("got /b2, want the request dropped")
		}
	})
}

func TestSwallowedReplyHappenedAndTheConnectionStays(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, 10*time.Second)
		srv.SwallowReply(zktest.Match{Op: zktest.OpCreate, Path: "/a*"})
		done := make(chan error, 1)
		go func() {
			_, err := c.Create("/a1", nil, 0, all)
			done <- err
		}()
		synctest.Wait()
		if !srv.Exists("/a1") {
			t.Error("got no /a1, want the request executed")
		}
		must[string](t)(c.Create("/a2", nil, 0, all))
		time.Sleep(time.Hour)
		if n := srv.Connections(); n != 1 || len(done) != 0 {
			t.Errorf("got %d connections and %d answers after an hour of pings, want 1 and 0", n, len(done))
		}
		srv.CutAll()
		if err := <-done; err != zk.ErrConnectionClosed {
			t.Errorf("got %v behind the end of the connection, want %v", err, zk.ErrConnectionClosed)
		}
	})
}

func TestThrottledRequestIsNotExecutedAndTheConnectionStays(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, 10*time.Second)
		srv.ThrottleRequest(zktest.Match{Op: zktest.OpCreate, Path: "/a"})
		if _, err := c.Create("/a", nil, 0, all); err == nil || srv.Exists("/a") {
			t.Errorf("got %v, exists %t, want an error and no node", err, srv.Exists("/a"))
		}
		must[string](t)(c.Create("/a", nil, 0, all))
		if n, asked := srv.Connections(), srv.Counts()[zktest.OpCreate]; n != 1 || asked != 2 {
			t.Errorf("got %d connections and %d requests, want 1 and 2", n, asked)
		}
	})
}

func TestHoldAndDelay(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, 10*time.Second)
		release := srv.HoldRequest(zktest.Match{Path: "/a"})
		done := make(chan error, 1)
		go func() {
			_, err := c.Create("/a", nil, 0, all)
			done <- err
		}()
		synctest.Wait()
		if srv.Exists("/a") || len(done) > 0 {
			t.Fatalf("got node there: %t, %d answers; want the request held", srv.Exists("/a"), len(done))
		}
		release()
		release()
		if err := <-done; err != nil || !srv.Exists("/a") {
			t.Fatal(err)
		}
		srv.DelayReply(zktest.Match{Op: zktest.OpGetData}, time.Second)
		start := time.Now()
		if _, _, err := c.Get("/a"); err != nil || time.Since(start) != time.Second {
			t.Fatal(err, time.Since(start))
		}
	})
}

// A stalled write outlives its connection, and the move of its session to another one; the end of the session it does
// not.
func TestStall(t *testing.T) {
	for name, ended := range map[string]bool{"the session has moved": false, "the session has ended": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server) {
				c := dial(t, srv.Dial, 10*time.Second)
				must[string](t)(c.Create("/c", nil, 0, all))
				id := c.SessionID()
				release := srv.Stall(zktest.Match{Path: "/a"})
				result := make(chan error, 1)
				go func() {
					_, err := c.Create("/a", nil, 0, all)
					result <- err
				}()
				synctest.Wait()
				srv.CutSession(id)
				if err := <-result; err == nil {
					t.Error("got no error, want that of a lost connection")
				}
				must[string](t)(c.Create("/b", nil, 0, all))
				if srv.Exists("/a") {
					t.Fatal("got the node, want the request stalled")
				}
				if ended {
					srv.ExpireSession(id)
				}
				release()
				release()
				synctest.Wait()
				if got := srv.Exists("/a"); got == ended {
					t.Errorf("got node there: %t", got)
				}
			})
		})
	}
}

// The owner check compares servers: a session that is connected to another one has moved.
func TestAStalledWriteOfASessionAtAnotherServerIsNotExecuted(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(2)
		t.Cleanup(func() { _ = ens.Close() })
		here, there := ens.Server(0), ens.Server(1)
		at := here
		c := dial(t, func(network, address string, timeout time.Duration) (net.Conn, error) {
			return at.Dial(network, address, timeout)
		}, 10*time.Second)
		must[string](t)(c.Create("/c", nil, 0, all))
		release := here.Stall(zktest.Match{Path: "/a"})
		result := make(chan error, 1)
		go func() {
			_, err := c.Create("/a", nil, 0, all)
			result <- err
		}()
		synctest.Wait()
		at = there
		here.CutSession(c.SessionID())
		if err := <-result; err == nil {
			t.Error("got no error, want that of a lost connection")
		}
		must[string](t)(c.Create("/b", nil, 0, all))
		release()
		synctest.Wait()
		if here.Exists("/a") || !here.Exists("/b") {
			t.Errorf("got /a %t and /b %t, want /b alone", here.Exists("/a"), here.Exists("/b"))
		}
	})
}

func TestCloseReleasesWhatIsStalled(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, 10*time.Second)
		must[string](t)(c.Create("/c", nil, 0, all))
		srv.Stall(zktest.Match{Path: "/a"})
		result := make(chan error, 1)
		go func() {
			_, err := c.Create("/a", nil, 0, all)
			result <- err
		}()
		synctest.Wait()
		srv.CutSession(c.SessionID())
		if err := <-result; err == nil {
			t.Error("got no error, want that of a lost connection")
		}
		closed := make(chan struct{})
		go func() {
			_ = srv.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Fatal("got no end of Close in a minute, want one at once")
		}
		if srv.Exists("/a") {
			t.Error("got the node, want the write dropped")
		}
	})
}

// One event is lost, of the path and the session that are meant; the watch is spent.
func TestDropEvent(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c, other := dial(t, srv.Dial, 10*time.Second), dial(t, srv.Dial, 10*time.Second)
		must[string](t)(c.Create("/a", nil, 0, all))
		must[string](t)(c.Create("/b", nil, 0, all))
		watch := func(c *zk.Conn, path string) <-chan zk.Event {
			t.Helper()
			_, _, events, err := c.GetW(path)
			if err != nil {
				t.Fatal(err)
			}
			return events
		}
		srv.DropEvent(zktest.Match{Path: "/a", Session: c.SessionID(), Nth: 2})
		for i, lost := range []bool{false, true, false} {
			own, others, elsewhere := watch(c, "/a"), watch(other, "/a"), watch(c, "/b")
			must[*zk.Stat](t)(c.Set("/a", nil, -1))
			must[*zk.Stat](t)(c.Set("/b", nil, -1))
			synctest.Wait()
			if len(own) != 1 != lost || len(others) != 1 || len(elsewhere) != 1 {
				t.Errorf("change %d: got %d, %d and %d events, want the first lost: %t", i+1, len(own), len(others), len(elsewhere), lost)
			}
			if lost {
				must[*zk.Stat](t)(c.Set("/a", nil, -1))
				synctest.Wait()
				if len(own) != 0 {
					t.Error("got an event of a watch that is spent, want none")
				}
			}
		}
	})
}

func TestFreezeStopsTheClock(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		c := dial(t, link.Dial, 10*time.Second)
		must[string](t)(c.Create("/e", nil, zk.FlagEphemeral, all))
		link.Cut()
		srv.Freeze()
		time.Sleep(time.Hour)
		srv.Unfreeze()
		time.Sleep(9 * time.Second)
		if !srv.Exists("/e") {
			t.Fatal("got no /e, want a session that does not time out while frozen")
		}
		time.Sleep(2 * time.Second)
		if srv.Exists("/e") {
			t.Fatal("got /e, want the session ended")
		}
	})
}

func TestSessionsSurviveRestartAndReconnect(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, 10*time.Second)
		must[string](t)(c.Create("/e", nil, zk.FlagEphemeral, all))
		id := c.SessionID()
		srv.Restart()
		time.Sleep(2 * time.Second)
		if _, _, err := c.Get("/e"); err != nil || c.SessionID() != id {
			t.Fatal(err)
		}
		srv.ExpireSession(id)
		time.Sleep(5 * time.Second)
		if srv.Exists("/e") || c.SessionID() == id {
			t.Fatalf("got /e there: %t, session %#x; want the node gone and another session",
				srv.Exists("/e"), c.SessionID())
		}
		if got := srv.Sessions(); len(got) != 1 || !got[0].Connected {
			t.Fatalf("%+v", got)
		}
	})
}

func TestARestartGivesSessionsTheirFullTimeoutAgain(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		link := srv.NewLink()
		c := dial(t, link.Dial, 10*time.Second)
		must[string](t)(c.Create("/e", nil, zk.FlagEphemeral, all))
		link.Cut()
		time.Sleep(8 * time.Second)
		srv.Restart()
		time.Sleep(9 * time.Second)
		if !srv.Exists("/e") {
			t.Fatal("got no /e nine seconds after the restart, want a session that lives for ten")
		}
		time.Sleep(3 * time.Second)
		if srv.Exists("/e") {
			t.Fatal("got /e, want the session ended")
		}
	})
}

func TestACL(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		a, b := dial(t, srv.Dial, 10*time.Second), dial(t, srv.Dial, 10*time.Second)
		if err := a.AddAuth("digest", []byte("u:p")); err != nil {
			t.Fatal(err)
		}
		must[string](t)(a.Create("/a", []byte("x"), 0, zk.AuthACL(zk.PermAll)))
		if _, _, err := b.Get("/a"); err != zk.ErrNoAuth {
			t.Fatal(err)
		}
		acl, _, err := a.GetACL("/a")
		if err != nil || len(acl) != 1 || acl[0] != zk.DigestACL(zk.PermAll, "u", "p")[0] {
			t.Fatal(acl, err)
		}
		if _, err := b.Create("/b", nil, 0, nil); err != zk.ErrInvalidACL {
			t.Fatal(err)
		}
	})
}

func TestObserverSeesRequestsInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, time.Minute)
		var got []string
		stop := srv.Observe(func(r zktest.Request) {
			got = append(got, fmt.Sprint(r.Op, " ", r.Path, " ", srv.Exists("/a")))
		})
		must[string](t)(c.Create("/a", nil, 0, all))
		if err := c.Delete("/a", -1); err != nil {
			t.Fatal(err)
		}
		stop()
		if _, _, err := c.Get("/a"); !errors.Is(err, zk.ErrNoNode) {
			t.Fatal(err)
		}
		if want := []string{"create /a false", "delete /a true"}; !slices.Equal(got, want) {
			t.Fatal(got)
		}
		if n := srv.Counts()[zktest.OpGetData]; n != 1 {
			t.Fatal(n)
		}
	})
}
