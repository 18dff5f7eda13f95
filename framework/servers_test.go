package framework_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// directory lists servers, as a service for that would.
type directory struct {
	mu    sync.Mutex
	list  []string
	err   error
	asked int
}

func (d *directory) set(err error, servers ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list, d.err = servers, err
}

func (d *directory) servers(context.Context) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	return d.list, d.err
}

// byName dials a link by the host that it stands for.
func byName(links map[string]*zktest.Link) framework.Option {
	return framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		if links[address] == nil {
			return nil, errors.New("unknown address " + address)
		}
		return links[address].DialContext(ctx, network, address)
	})
}

func TestAListOfServersIsAskedAtEachAttempt(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ensemble := zktest.NewEnsemble(2)
		defer ensemble.Close()
		d := &directory{list: []string{"old"}}
		first, second := ensemble.Server(0).NewLink(), ensemble.Server(1).NewLink()
		client, err := framework.NewClient("", framework.WithServers(d.servers), framework.WithSessionTimeout(clienttest.SessionTimeout),
			byName(map[string]*zktest.Link{"old:2181": first, "new:2999": second}))
		must(t, err)
		defer client.Close()
		must(t, client.BlockUntilConnected(t.Context()))
		s, _ := client.Session(t.Context())
		if got := client.Server(); got != "old:2181" {
			t.Errorf("got server %q, want old:2181", got)
		}
		d.set(nil, "new:2999")
		time.Sleep(time.Minute)
		if got := client.Server(); got != "old:2181" {
			t.Errorf("without need, the client has moved to %q", got)
		}
		first.Cut()
		for client.Server() != "new:2999" {
			time.Sleep(time.Second)
		}
		if now, err := client.Session(t.Context()); now != s {
			t.Errorf("got session %v, %v, want %v", now, err, s)
		}
		if got := client.String(); !strings.Contains(got, "new:2999") || strings.Contains(got, "old") {
			t.Errorf("the client is %q", got)
		}
	})
}

func TestAListOfServersThatFailsLeavesTheLastOne(t *testing.T) {
	for name, fail := range map[string]func(d *directory){
		"an error":       func(d *directory) { d.set(errors.New("directory on holiday"), "wrong:1") },
		"an empty list":  func(d *directory) { d.set(nil) },
		"an empty entry": func(d *directory) { d.set(nil, "wrong:1", "") },
		"a wrong entry":  func(d *directory) { d.set(nil, "wrong:1", "a:b:c") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble := func(t *testing.T) {
				d := &directory{list: []string{"zk"}}
				w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
				w.Link = w.Server.NewLink()
				client := w.Dial("elsewhere:1", framework.WithServers(d.servers), byName(map[string]*zktest.Link{"zk:2181": w.Link}))
				must(t, client.BlockUntilConnected(t.Context()))
				fail(d)
				w.Link.Cut()
				w.Eventually("suspended", func() bool { return !client.State().IsConnected() })
				err := client.BlockUntilConnected(w.Within(3 * time.Second))
				var unreachable *framework.ConnectError
				if !errors.As(err, &unreachable) || unreachable.Servers["list of servers"] == nil || unreachable.Servers["zk:2181"] == nil {
					t.Errorf("got %v, want an error of the list and of zk", err)
				}
				w.Link.Heal()
				wantErr(t, client.BlockUntilConnected(w.Within(time.Minute)))
				wantErr(t, client.Close())
			}
			zktest.Bubble(t, bubble)
		})
	}
}

func TestTheConnectStringServesUntilThereIsAList(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		d := &directory{err: errors.New("not yet")}
		w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
		w.Make("/app")
		w.Link = w.Server.NewLink()
		client := w.Dial("seed/app", framework.WithServers(d.servers), byName(map[string]*zktest.Link{"seed:2181": w.Link}))
		if err := client.BlockUntilConnected(t.Context()); err != nil || client.Server() != "seed:2181" {
			t.Errorf("got %v at %q, want a connection to seed:2181", err, client.Server())
		}
		if _, err := framework.NewClient("", framework.WithDialer(w.Server.DialContext)); err == nil {
			t.Error("got a client without servers, want an error")
		}
	})
}

func TestAListOfServersThatHangsOrPanicsHoldsUpNoClose(t *testing.T) {
	for name, list := range map[string]func(ctx context.Context) ([]string, error){
		"hangs":  func(context.Context) ([]string, error) { time.Sleep(time.Hour); return nil, errors.New("late") },
		"panics": func(context.Context) ([]string, error) { panic("list") },
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
				w.Link = w.Server.NewLink()
				client := w.Dial("zk", framework.WithServers(list), framework.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
				wantErr(t, client.BlockUntilConnected(w.Within(time.Minute)))
				w.Link.Cut()
				w.Eventually("suspended", func() bool { return !client.State().IsConnected() })
				before := time.Now()
				_ = client.Close()
				if d := time.Since(before); d > 3*time.Second {
					t.Errorf("Close took %v", d)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// While the list hangs, attempts are made at the last one, in time for the session and its leases.
func TestALeaseLivesThroughAReconnectionWhileTheListOfServersHangs(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var hangs atomic.Bool
		goOn := make(chan struct{})
		defer close(goOn)
		list := func(context.Context) ([]string, error) {
			if hangs.Load() {
				<-goOn // whatever ctx says
			}
			return []string{"a", "b", "c"}, nil
		}
		w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
		w.Link = w.Server.NewLink()
		dead := w.Server.NewLink()
		dead.Cut()
		w.Client = w.Dial("", framework.WithServers(list), byName(map[string]*zktest.Link{"a:2181": w.Link, "b:2181": dead, "c:2181": dead}))
		w.Connected()
		b := w.Bind()
		hangs.Store(true)
		for range 3 {
			w.Link.Reset()
			time.Sleep(clienttest.SessionTimeout)
			if b.Ended() || !w.Client.State().IsConnected() {
				t.Fatalf("the lease has ended: %v, connected: %t", b.Cause, w.Client.State().IsConnected())
			}
		}
	})
}

// A ConnectError names the servers that are listed now, and failures of the list only while it fails.
func TestAConnectErrorNamesTheServersOfThePresentList(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		d := &directory{err: errors.New("directory on holiday")}
		w := &env{&clienttest.Env{T: t, Server: zktest.New(t)}}
		w.Link = w.Server.NewLink()
		w.Link.Cut()
		client := w.Dial("old", framework.WithServers(d.servers), byName(map[string]*zktest.Link{"old:2181": w.Link, "new:2181": w.Link}))
		err := client.BlockUntilConnected(w.Within(5 * time.Second))
		for _, want := range []string{"old:2181", "directory on holiday"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		}
		d.set(nil, "new")
		err = client.BlockUntilConnected(w.Within(5 * time.Second))
		var unreachable *framework.ConnectError
		if !errors.As(err, &unreachable) || len(unreachable.Servers) != 1 || unreachable.Servers["new:2181"] == nil {
			t.Errorf("got %v, want a ConnectError of new:2181 alone", err)
		}
	})
}

func TestServerAndStartedFollowTheClient(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		if got := w.Client.Server(); got != "zk:2181" || w.Client.Err() != nil || w.Session().Timeout() != clienttest.SessionTimeout {
			t.Errorf("connected: at %q, started %v, timeout %v", got, w.Client.Err() == nil, w.Session().Timeout())
		}
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return w.Client.State() == suspended })
		if got := w.Client.Server(); got != "" || w.Client.Err() != nil {
			t.Errorf("suspended: at %q, started %v", got, w.Client.Err() == nil)
		}
		_ = w.Client.Close()
		if got := w.Client.Server(); got != "" || w.Client.Err() == nil {
			t.Errorf("closed: at %q, started %v", got, w.Client.Err() == nil)
		}
	})
}
