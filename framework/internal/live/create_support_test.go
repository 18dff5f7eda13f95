package live_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// servers that do not know all that a lock asks for.
var servers = map[string]zktest.Option{
	"ZooKeeper 3.4":          zktest.WithVersion("3.4.14"),
	"ClickHouse Keeper 24.8": zktest.WithKeeper("24.8"),
	"ClickHouse Keeper 26.3": zktest.WithKeeper("26.3"),
}

func TestAServerWithoutCreate2AndContainersIsUsedWithout(t *testing.T) {
	for name, opt := range servers {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t, opt)
				var log strings.Builder
				client := connect(t, server, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				defer func() {
					_ = client.Close()
					for _, part := range []string{"create2", "createContainer", "persistent"} {
						if !strings.Contains(log.String(), part) {
							t.Errorf("the log does not say %q: %s", part, log.String())
						}
					}
				}()
				begun := time.Now()
				s := enterable(t, client)
				entry, err := s.CreateProtected(t.Context(), "/a/b", "n-", []byte("x"))
				for errors.Is(err, framework.ErrSessionLost) { // where every hang-up ends the session, as recipes do
					s = enterable(t, client)
					entry, err = s.CreateProtected(t.Context(), "/a/b", "n-", []byte("x"))
				}
				must(t, err)
				if took := time.Since(begun); took > 5*time.Second {
					t.Errorf("it took %v to find out", took)
				}
				if n := server.Children("/a/b"); len(n) != 1 || len(entry.Children) != 1 || !strings.HasSuffix(entry.Path, n[0]) {
					t.Errorf("created: %q, listed: %q, there: %q", entry.Path, entry.Children, n)
				}
				if stat, _ := server.Stat(entry.Path); entry.Stat == nil || entry.Stat.Czxid != stat.Czxid || stat.EphemeralOwner != s.ID() {
					t.Errorf("Stat: got %+v, want %+v", entry.Stat, stat)
				}
				time.Sleep(time.Minute)
				removal := s.Remove(entry.Path)
				if <-removal.Done(); removal.Err() != nil {
					t.Error(removal.Err())
				}
				time.Sleep(time.Minute)
				if !server.Exists("/a/b") {
					t.Error("got no /a/b, want persistent parents, which stay")
				}
				before := server.Counts()
				path, stat, err := client.Create(t.Context(), "/plain", nil)
				if err != nil || path != "/plain" || stat == nil || stat.Czxid == 0 {
					t.Errorf("Create: %q, %+v, %v", path, stat, err)
				}
				after := server.Counts()
				if after[zktest.OpCreate2] != before[zktest.OpCreate2] || after[zktest.OpCreate]-before[zktest.OpCreate] != 1 {
					t.Errorf("requests before: %v, after: %v", before, after)
				}
				_, _, err = client.Create(t.Context(), "/c", nil, framework.WithMode(framework.Container))
				if !errors.Is(err, framework.ErrUnsupported) {
					t.Errorf("a container: got %v, want ErrUnsupported", err)
				}
			})
		})
	}
}

func connect(t *testing.T, server *zktest.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("zktest:2181", append([]framework.Option{framework.WithDialer(server.DialContext)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func enterable(t *testing.T, client *framework.Client) framework.Session {
	t.Helper()
	s, err := client.Session(t.Context())
	must(t, err)
	return s
}

// An operation of the client has no more tries than its policy gives it. They are enough to find out, also if the first
// request of each connection is the one that ends it, and each connection has a session of its own.
func TestTheFirstCreateAtAServerWithoutCreate2(t *testing.T) {
	for name, opt := range servers {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t, opt)
				client := connect(t, server)
				path, stat, err := client.Create(t.Context(), "/a", nil)
				if err != nil || path != "/a" || stat == nil {
					t.Errorf("%q, %+v, %v", path, stat, err)
				}
				path, _, err = client.Create(t.Context(), "/b/c", nil, framework.CreatingParentContainersIfNeeded())
				if err != nil || path != "/b/c" {
					t.Errorf("with parents: %q, %v", path, err)
				}
			})
		})
	}
}

// Without create2 the Stat is asked for behind the creation, and that answer is lost: the node is found again. It would
// stay beside the next one otherwise.
func TestANodeWhoseStatIsLostIsAdopted(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t, servers["ZooKeeper 3.4"])
		client := connect(t, server)
		if _, _, err := client.Create(t.Context(), "/dir", nil); err != nil {
			t.Fatal(err)
		}
		server.DropReply(zktest.Match{Op: zktest.OpExists, Path: "/dir/_c_*"})
		entry, err := enterable(t, client).CreateProtected(t.Context(), "/dir", "n-", nil)
		if n := server.Children("/dir"); err != nil || len(n) != 1 || entry.Path != "/dir/"+n[0] || entry.Stat == nil {
			t.Errorf("got %+v, %v, and nodes %q, want one with its Stat", entry, err, n)
		}
	})
}

// Three removals of a watch cost three connections; the fourth is not sent.
func TestAServerThatCannotRemoveWatchesIsNotAskedToForEver(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t, zktest.WithKeeper("24.8"))
		client := connect(t, server)
		must(t, server.Create("/w", nil))
		for range 10 {
			s := enterable(t, client)
			w := s.WatchData("/w", func() {})
			time.Sleep(time.Second)
			w.Stop()
			time.Sleep(2 * time.Second)
		}
		if n := server.Counts()[zktest.OpRemoveWatches]; n > 4 {
			t.Errorf("it was asked %d times", n)
		}
		wantErr(t, client.BlockUntilConnected(t.Context()))
	})
}

// A server that hangs up on a request that nothing can replace: the caller hears which, and by whom.
func TestARequestThatEndsEveryConnectionFails(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		must(t, server.Create("/dir", nil))
		client := connect(t, server)
		for n := range 20 {
			server.DropRequest(zktest.Match{Op: zktest.OpCreate2, Nth: n + 1})
			server.DropRequest(zktest.Match{Op: zktest.OpCreate, Nth: n + 1})
		}
		s := enterable(t, client)
		_, err := s.CreateProtected(t.Context(), "/dir", "n-", nil)
		var hangUp *framework.DisconnectError
		if !errors.As(err, &hangUp) {
			t.Fatalf("got %v, want a DisconnectError", err)
		}
		if hangUp.Request != "create" || hangUp.Server == "" || hangUp.Times < 5 || !strings.HasPrefix(hangUp.Path, "/dir/_c_") {
			t.Errorf("%+v", *hangUp)
		}
		if s.Err() != nil {
			t.Errorf("the session: %v", s.Err())
		}
		if _, err := s.List(t.Context(), "/dir"); err != nil {
			t.Errorf("other requests: %v", err)
		}
	})
}

// The client of such a server, which is not known, must not look for a lost create for ever, and lose every connection
// by it.
func TestALostCreateAtAServerThatHangsUpOnTransactions(t *testing.T) {
	for name, patience := range map[string]time.Duration{"its caller waits": time.Hour, "its caller has gone": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t)
				must(t, server.Create("/dir", nil))
				var log strings.Builder
				dials := 0 // one after the other
				client := connect(t, server, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
					framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
						dials++
						return server.DialContext(ctx, network, address)
					}))
				s := enterable(t, client)
				server.DropReply(zktest.Match{Op: zktest.OpCreate2})
				for n := range 100 {
					server.DropRequest(zktest.Match{Op: zktest.OpMulti, Nth: n + 1})
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				entry, err := s.CreateProtected(ctx, "/dir", "n-", nil)
				time.Sleep(time.Hour)
				want := 0 // nodes
				if patience == time.Hour {
					want = 1
				} else if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("CreateProtected: got %v, want the end of its context", err)
				}
				if nodes := server.Children("/dir"); len(nodes) != want || want == 1 && (err != nil || entry.Path != "/dir/"+nodes[0]) {
					t.Errorf("CreateProtected: got %q, %v; there are %q, want %d", entry.Path, err, nodes, want)
				}
				// One ended on the create, five or six on a transaction, and the last stays.
				if dials > 1+6+1 {
					t.Errorf("got %d connections, want at most 8", dials)
				}
				if s.Err() != nil {
					t.Errorf("the session: %v", s.Err())
				}
				_ = client.Close()
				if !strings.Contains(log.String(), "lost nodes are looked for after a sync") {
					t.Errorf("the log does not say what the client does: %s", log.String())
				}
			})
		})
	}
}

// Connections that end at any time are no evidence: neither those on which nothing was answered, nor those that ended
// when the request had waited for a while, as when servers lose their leader again and again.
func TestBrokenConnectionsAreNoEvidence(t *testing.T) {
	for name, breaks := range map[string]func(server *zktest.Server){
		"nothing is answered": func(server *zktest.Server) {
			for n := range 12 {
				server.DropRequest(zktest.Match{Nth: n + 1})
			}
		},
		"the server is slow": func(server *zktest.Server) {
			var resume []func()
			for n := range 6 {
				resume = append(resume, server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Nth: n + 1}))
			}
			for range 7 {
				time.AfterFunc(time.Duration(len(resume))*2*time.Second, server.Restart)
				resume = resume[:max(0, len(resume)-1)]
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t)
				must(t, server.Create("/dir", nil))
				s := enterable(t, connect(t, server))
				breaks(server)
				entry, err := s.CreateProtected(t.Context(), "/dir", "n-", nil)
				if err != nil || len(server.Children("/dir")) != 1 {
					t.Fatalf("%+v, %v; there: %q", entry, err, server.Children("/dir"))
				}
				if n := server.Counts()[zktest.OpCreate]; n != 0 {
					t.Errorf("%d creations without a Stat", n)
				}
			})
		})
	}
}

// Without create2 the Stat is asked for behind the creation, and the node may be gone by then.
func TestANodeThatIsGoneBeforeItsStatIsReadIsNoResult(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t, servers["ZooKeeper 3.4"])
		client := connect(t, server)
		if _, _, err := client.Create(t.Context(), "/dir", nil); err != nil {
			t.Fatal(err)
		}
		removed := func(prefix string) {
			release := server.HoldRequest(zktest.Match{Op: zktest.OpExists, Path: "/dir/" + prefix + "*"})
			go func() {
				time.Sleep(time.Second)
				for _, name := range server.Children("/dir") {
					_ = server.Delete("/dir/" + name)
				}
				release()
			}()
		}
		removed("_c_")
		entry, err := enterable(t, client).CreateProtected(t.Context(), "/dir", "n-", nil)
		if err != nil || entry.Stat == nil || !server.Exists(entry.Path) {
			t.Errorf("CreateProtected: %+v, %v, want a node that is there", entry, err)
		}
		for name, opts := range map[string][]framework.CreateOption{"plain": nil, "_c_": {framework.WithProtection()}} {
			removed(name)
			before := server.Counts()[zktest.OpCreate]
			path, stat, err := client.Create(t.Context(), "/dir/plain", nil, opts...)
			if !errors.Is(err, zk.ErrNoNode) || !strings.Contains(err.Error(), "removed before its Stat was read") {
				t.Errorf("Create %s: %q, %+v, %v, want ErrNoNode", name, path, stat, err)
			}
			if n := server.Counts()[zktest.OpCreate] - before; n != 1 {
				t.Errorf("Create %s: the node was created %d times", name, n)
			}
		}
	})
}
