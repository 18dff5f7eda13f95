package zktest_test

import (
	"errors"
	"net"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

func TestAdministratorAndItsErrors(t *testing.T) {
	srv := zktest.New(t, zktest.WithContainerCheckInterval(time.Minute), zktest.WithMaxFrame(1000))
	for _, err := range []error{srv.Create("/a", []byte("x")), srv.Create("/a/b", nil), srv.SetData("/a", []byte("y"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if data, ok := srv.Data("/a"); !ok || string(data) != "y" {
		t.Fatal(data, ok)
	}
	if _, ok := srv.Data("/none"); ok || srv.Children("/none") != nil {
		t.Fatalf("got data (%t) or children of /none, want neither", ok)
	}
	for want, err := range map[string]error{
		"zktest: node exists":         srv.Create("/a", nil),
		"zktest: no node":             srv.Delete("/none"),
		"zktest: directory not empty": srv.Delete("/a"),
		"zktest: bad arguments":       srv.SetData("a", nil),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := errors.Join(srv.Delete("/a/b"), srv.Delete("/a")); err != nil || srv.Exists("/a") {
		t.Fatal(err)
	}
}

func TestCutting(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		a, id := attach(t, srv, nil)
		b, _ := attach(t, srv, nil)
		srv.CutSession(srv.Sessions()[0].ID)
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		if sessions := srv.Sessions(); len(sessions) != 2 || sessions[0].Connected || !sessions[1].Connected {
			t.Fatalf("%+v", sessions)
		}
		srv.CutAll()
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) || srv.Connections() != 0 {
			t.Fatal(err)
		}
		attach(t, srv, id)
		if sessions := srv.Sessions(); len(sessions) != 2 || !sessions[0].Connected {
			t.Fatalf("%+v", sessions)
		}
	})
}

func TestTTLNodesGo(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, time.Minute)
		must[string](t)(c.CreateTTL("/t", nil, zk.FlagTTL, all, 10*time.Second))
		must[string](t)(c.Create("/t/x", nil, 0, all))
		time.Sleep(20500 * time.Millisecond)
		if err := c.Delete("/t/x", -1); err != nil || !srv.Exists("/t") {
			t.Fatal(err)
		}
		time.Sleep(1001 * time.Millisecond)
		if srv.Exists("/t") {
			t.Fatal("got /t after its TTL, want it gone")
		}
	})
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, time.Minute)
		if _, err := c.CreateTTL("/t", nil, zk.FlagTTL, all, time.Second); err == nil {
			t.Fatal("got a TTL node, want a refusal")
		}
	}, zktest.WithTTLNodes(false))
}

func TestContainersGoLevelByLevel(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		c := dial(t, srv.Dial, time.Minute)
		for _, path := range []string{"/a", "/a/b", "/a/b/c"} {
			must[string](t)(c.CreateContainer(path, nil, zk.FlagContainer, all))
		}
		must[string](t)(c.Create("/a/b/c/x", nil, 0, all))
		if err := c.Delete("/a/b/c/x", -1); err != nil {
			t.Fatal(err)
		}
		for _, there := range []string{"/a/b/c", "/a/b", "/a"} {
			if !srv.Exists(there) {
				t.Fatal(there)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if srv.Exists(there) {
				t.Fatal(there)
			}
		}
	}, zktest.WithContainerCheckInterval(time.Minute))
}

func TestEnsembleIsDialledByAddress(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(3)
		defer ens.Close()
		if addrs := ens.Addrs(); len(addrs) != ens.Size() || !slices.Contains(addrs, "server2:2181") {
			t.Fatal(addrs)
		}
		nc, err := ens.Dial("tcp", "server2:2181", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		handshakeAs(t, nc, nil)
		if ens.Server(2).Connections() != 1 {
			t.Fatalf("got %d connections at server 2, want 1", ens.Server(2).Connections())
		}
		if _, err := ens.DialContext(t.Context(), "tcp", "server3:2181"); !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Fatal(err)
		}
	})
}

func TestImpossibleOptionsAreRefused(t *testing.T) {
	for name, option := range map[string]func() zktest.Option{
		"tick":     func() zktest.Option { return zktest.WithTickTime(0) },
		"timeouts": func() zktest.Option { return zktest.WithSessionTimeouts(time.Second, time.Millisecond) },
		"version":  func() zktest.Option { return zktest.WithVersion("3") },
		"frame":    func() zktest.Option { return zktest.WithMaxFrame(-1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			option()
		}()
	}
}

func TestCloseDoesNotWaitForAClientThatDoesNotRead(t *testing.T) {
	srv := zktest.NewServer()
	if err := srv.Create("/big", make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	handshakeAs(t, nc, nil)
	for range 64 {
		nc.Write(request(zktest.OpGetData, "/big", 0))
	}
	nc.Write([]byte{0xff, 0xff, 0xff, 0xff}) // an impossible length ends the reader, while the writer is stuck
	for srv.Connections() > 0 {
		runtime.Gosched()
	}
	srv.Close()
}
