package framework_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// exchange is a network in which the server at an address can be replaced.
type exchange struct {
	mu    sync.Mutex
	links map[string]*zktest.Link // nil: no server is there
}

func (x *exchange) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	x.mu.Lock()
	link := x.links[address]
	x.mu.Unlock()
	if link == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	return link.DialContext(ctx, network, address)
}

// replace puts servers at the addresses, and cuts the connections to what was there.
func (x *exchange) replace(servers map[string]*zktest.Server) {
	x.mu.Lock()
	old := x.links
	x.links = map[string]*zktest.Link{}
	for address, srv := range servers {
		if srv != nil {
			x.links[address] = srv.NewLink()
		}
	}
	x.mu.Unlock()
	for _, link := range old {
		if link != nil {
			link.Cut()
		}
	}
}

// younger is a client that has seen much of an old server, which is at all of its addresses, and another server that
// has seen less.
type younger struct {
	*env
	*exchange
	old, fresh *zktest.Server
	log        bytes.Buffer
}

func newYounger(t *testing.T, connect string, opts ...framework.Option) *younger {
	y := &younger{old: zktest.NewServer(), fresh: zktest.NewServer(), exchange: &exchange{}}
	t.Cleanup(func() { y.old.Close(); y.fresh.Close() })
	y.env = &env{&clienttest.Env{T: t, Server: y.old, States: &clienttest.States{}}}
	servers, _, _ := strings.Cut(connect, "/")
	all := map[string]*zktest.Server{}
	for server := range strings.SplitSeq(servers, ",") {
		all[server] = y.old
	}
	y.replace(all)
	if _, chroot, ok := strings.Cut(connect, "/"); ok {
		admin := y.dialVia(servers)
		if _, _, err := admin.Create(t.Context(), "/"+chroot, nil); err != nil {
			t.Fatal(err)
		}
		_ = admin.Close()
	}
	y.Client = y.dialVia(connect, append([]framework.Option{
		framework.WithStateListener(y.States.Hear), framework.WithLogger(slog.New(slog.NewTextHandler(&y.log, &slog.HandlerOptions{Level: slog.LevelWarn}))),
	}, opts...)...)
	y.Connected()
	for range 200 { // the questions that are asked at a server count as well
		y.Create("/n-", framework.WithMode(framework.PersistentSequential))
	}
	y.Make("/old")
	return y
}

func (y *younger) dialVia(connect string, opts ...framework.Option) *framework.Client {
	return y.Dial(connect, append([]framework.Option{framework.WithDialer(y.DialContext)}, opts...)...)
}

func TestAClientIsBackAtAnEnsembleThatWasWiped(t *testing.T) {
	for _, connect := range []string{"a:1", "a:1,b:1,c:1", "a:1,b:1,c:1,d:1,e:1"} {
		for seed := range 4 { // the order of servers, and the pauses, are random
			t.Run(fmt.Sprint(connect, " ", seed), func(t *testing.T) {
				zktest.Bubble(t, func(t *testing.T) {
					y := newYounger(t, connect)
					h := y.Bind()
					all := map[string]*zktest.Server{}
					for server := range strings.SplitSeq(connect, ",") {
						all[server] = y.fresh
					}
					wiped := time.Now()
					y.replace(all)
					w := y.env
					w.Eventually("lost", func() bool { return w.States.Has(lost) })
					if !h.Ended() {
						t.Error("got LOST before the binding's end, want it after")
					}
					w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
					if d := time.Since(wiped); d > clienttest.SessionTimeout+time.Second {
						t.Errorf("back after %v", d)
					}
					if stat, err := w.Client.Exists(t.Context(), "/old"); stat != nil || err != nil {
						t.Errorf("a node of the past: %v, %v", stat, err)
					}
					if _, _, err := w.Client.Create(t.Context(), "/new", nil); err != nil || !y.fresh.Exists("/new") {
						t.Error(err)
					}
					synctest.Wait()
					w.States.Want(t, connected, suspended, lost, reconnected)
					wantErr(t, w.Client.Close())
					if !strings.Contains(y.log.String(), "younger") {
						t.Errorf("the log says %s", y.log.String())
					}
					if left := y.fresh.Sessions(); len(left) != 0 {
						t.Errorf("sessions are left behind by questions: %+v", left)
					}
				})
			})
		}
	}
}

// A second loss finds the client ready for the next.
func TestAClientIsBackEachTimeTheEnsembleIsReplaced(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		y := newYounger(t, "a:1")
		for replaced := 1; replaced <= 3; replaced++ {
			next := zktest.NewServer()
			t.Cleanup(func() { next.Close() })
			y.replace(map[string]*zktest.Server{"a:1": next})
			y.Eventually("back", func() bool { _, err := y.Client.Exists(y.Within(time.Millisecond), "/"); return err == nil })
			for range 50 {
				y.Create("/n-", framework.WithMode(framework.PersistentSequential))
			}
			s, err := y.Client.Session(t.Context())
			must(t, err)
			if got := s.EnsembleGeneration(); got != replaced {
				t.Errorf("got the generation %d, want %d: one more for each ensemble", got, replaced)
			}
		}
	})
}

func TestAServerThatIsBehindIsUsedOnlyIfMoreThanHalfAre(t *testing.T) {
	for name, c := range map[string]struct {
		at   string // the servers at a:1, b:1 …: (o)ld, (f)resh, none (-)
		back string // where the next session is: o, f, - if nowhere
	}{
		"all old":                      {"ooo", "o"},
		"one is behind":                {"foo", "o"},
		"two are behind, one is not":   {"ffo", "o"},
		"one is behind, one is not":    {"fo", "o"},
		"four of five are behind":      {"ffffo", "o"},
		"one is behind, one is down":   {"f-", "-"},
		"one is behind, two are down":  {"f--", "-"},
		"two are behind, two are down": {"ff--", "-"},
		"two are behind, one is down":  {"ff-", "f"},
		"three of five are behind":     {"fff--", "f"},
		"all are behind":               {"fff", "f"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				zktest.Bubble(t, func(t *testing.T) {
					var addresses []string
					at := map[string]*zktest.Server{}
					for i := range c.at {
						address := string(rune('a'+i)) + ":1"
						addresses = append(addresses, address)
						at[address] = nil
					}
					y := newYounger(t, strings.Join(addresses, ","))
					for i, kind := range c.at {
						at[addresses[i]] = map[rune]*zktest.Server{'o': y.old, 'f': y.fresh}[kind]
					}
					y.old.ExpireSession(y.Session().ID())
					y.replace(at)
					time.Sleep(clienttest.SessionTimeout + 5*time.Second)
					synctest.Wait()
					stat, err := y.Client.Exists(t.Context(), "/old")
					got := "-"
					switch {
					case err == nil && stat != nil:
						got = "o"
					case err == nil:
						got = "f"
					}
					if got != c.back {
						t.Errorf("the client is at %q, want %q: %v", got, c.back, err)
					}
					if got == "-" && (len(y.fresh.Sessions()) != 0 || !strings.Contains(err.Error(), "older than what this client has seen")) {
						t.Errorf("%d sessions at the server that is behind; the error is %v", len(y.fresh.Sessions()), err)
					}
				})
			}
		})
	}
}

func TestAChrootThatAWipedEnsembleLacksIsNamedAndNotWaitedForForEver(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		y := newYounger(t, "a:1/app")
		y.replace(map[string]*zktest.Server{"a:1": y.fresh})
		y.Eventually("lost", func() bool { return y.States.Has(lost) })
		before := time.Now()
		_, err := y.Client.Session(t.Context())
		var unreachable *framework.ConnectError
		if wantErr(t, err, framework.ErrNoChroot); errors.As(err, &unreachable) || time.Since(before) > clienttest.ConnectionTimeout {
			t.Errorf("after %v: %v, which is waited out", time.Since(before), err)
		}
		admin := y.dialVia("a:1")
		if _, _, err := admin.Create(t.Context(), "/app", nil); err != nil {
			t.Fatal(err)
		}
		wantErr(t, y.Client.BlockUntilConnected(y.Within(2*time.Second)))
	})
}
