package framework_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

func TestAnUnreachableEnsembleIsNamedServerByServer(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.NewServer()}}
		t.Cleanup(func() { w.Server.Close() })
		client := w.Dial("one:1,two:2,three:3", framework.WithDialer(func(ctx context.Context, _, address string) (net.Conn, error) {
			if address == "three:3" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, errors.New("no route to " + address)
		}))
		before := time.Now()
		err := client.BlockUntilConnected(w.Within(10 * time.Second))
		if d := time.Since(before); d != 10*time.Second {
			t.Errorf("it took %v", d)
		}
		var named *framework.ConnectError
		if !errors.As(err, &named) || len(named.Servers) != 3 {
			t.Fatalf("got %#v", err)
		}
		wantErr(t, err, context.DeadlineExceeded)
		for _, part := range []string{"one:1 (no route to one:1)", "two:2 (no route to two:2)", "three:3 (context deadline exceeded)"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	})
}

func TestAnOperationWaitsForAConnectionAsLongAsTheConnectionTimeout(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newCutEnv(t, framework.WithConnectionTimeout(7*time.Second), framework.WithRetryPolicy(retry.Never()))
		time.Sleep(time.Second)
		before := time.Now()
		_, err := w.Client.Exists(t.Context(), "/")
		if d := time.Since(before); d != 7*time.Second {
			t.Errorf("it took %v", d)
		}
		var named *framework.ConnectError
		if !errors.As(err, &named) || !strings.Contains(err.Error(), "connection timeout of 7s") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAMissingChrootIsNamed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newEnv(t)
		w.Connected()
		var heard clienttest.States
		client := w.Dial("zk:2181/no/such", framework.WithStateListener(heard.Hear), framework.WithConnectionTimeout(5*time.Second))
		err := client.BlockUntilConnected(w.Within(3 * time.Second))
		wantErr(t, err, framework.ErrNoChroot, context.DeadlineExceeded)
		if !strings.Contains(err.Error(), "/no/such") {
			t.Errorf("%q does not name the chroot", err)
		}
		_, err = client.Exists(t.Context(), "/")
		wantErr(t, err, framework.ErrNoChroot)
		heard.Want(t)

		// As soon as it exists, the client goes on.
		for _, path := range []string{"/no", "/no/such"} {
			w.Make(path)
		}
		wantErr(t, client.BlockUntilConnected(w.Within(3*time.Second)))
		synctest.Wait()
		heard.Want(t, connected)
	})
}

func TestAChrootThatMayNotBeReadIsThere(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/app", framework.WithACL(zk.ACL{Perms: zk.PermAll &^ zk.PermRead, Scheme: "world", ID: "anyone"}))
		client := w.Dial("zk:2181/app")
		must(t, client.BlockUntilConnected(w.Within(time.Second)))
		if _, _, err := client.Create(t.Context(), "/n", nil); err != nil {
			t.Error(err)
		}
	})
}

func TestARefusedAuthenticationIsNamedAndFinal(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newEnv(t, framework.WithAuthorization("kerberos", []byte("x")))
		err := w.Client.BlockUntilConnected(t.Context())
		wantErr(t, err, framework.ErrAuthRefused)
		if !strings.Contains(err.Error(), "zk:2181") {
			t.Errorf("%q does not name the server", err)
		}
		_, err = w.Client.Exists(t.Context(), "/")
		wantErr(t, err, framework.ErrAuthRefused)
		synctest.Wait()
		conns, auths := w.Server.Connections(), w.Count(zktest.OpSetAuth)
		time.Sleep(time.Hour)
		if now := w.Count(zktest.OpSetAuth); now != auths || auths > 1 || conns != 0 {
			t.Errorf("the client asked %d times, and %d times in the hour after; %d connections", auths, now-auths, conns)
		}
		w.States.Want(t, lost)
		wantErr(t, w.Client.Err(), framework.ErrAuthRefused)
		_ = closesWithin(t, w.Client, time.Second)
		_, err = w.Client.Exists(t.Context(), "/")
		wantErr(t, err, framework.ErrClosed)
		wantErr(t, w.Client.Err(), framework.ErrClosed)
	})
}

func TestAuthenticationIsSentOnEveryConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/mine", framework.WithACL(zk.DigestACL(zk.PermAll, "me", "secret")...))
		for range 3 {
			if _, _, err := w.Client.Get(t.Context(), "/mine"); err != nil {
				t.Error(err)
			}
			w.Link.Reset()
		}
		stranger := w.Dial("zk:2181", framework.WithAuthorization("digest", []byte("me:guess")))
		_, _, err := stranger.Get(t.Context(), "/mine")
		wantErr(t, err, zk.ErrNoAuth)
	}, framework.WithAuthorization("digest", []byte("me:secret")))
}

func TestAServerThatIsNoZooKeeperIsNamed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.NewServer()}}
		t.Cleanup(func() { w.Server.Close() })
		client := w.Dial("web:80", framework.WithDialer(func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				_, _ = far.Read(make([]byte, 100))
				_, _ = far.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			}()
			return near, nil
		}))
		err := client.BlockUntilConnected(w.Within(5 * time.Second))
		if err == nil || !strings.Contains(err.Error(), "not the ZooKeeper protocol") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheConnectionMovesOnFromAServerThatAnswersNoSync(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(3, zktest.WithSyncLimit(time.Hour))
		t.Cleanup(func() { ens.Close() })
		link := ens.NewLink()
		var at atomic.Value
		w := &env{&clienttest.Env{T: t, Server: ens.Leader(), States: &clienttest.States{}}}
		w.Client = w.Dial(strings.Join(ens.Addrs(), ","), framework.WithStateListener(w.States.Hear),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				at.Store(address)
				return link.DialContext(ctx, network, address)
			}))
		w.Connected()
		for at.Load() == ens.Addrs()[0] { // the leader cannot be isolated
			link.Reset()
			w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		}
		s := w.Session()
		var ended error
		hold, err := s.Bind(func(err error) { ended = err }, nil)
		must(t, err)
		time.Sleep(clienttest.SessionTimeout)
		cut := at.Load()
		for i, addr := range ens.Addrs() {
			if addr == cut {
				ens.Isolate(i)
			}
		}
		time.Sleep(clienttest.SessionTimeout)
		synctest.Wait()
		if at.Load() == cut {
			t.Errorf("got the client at server %v, which has lost its leader; want another", at.Load())
		}
		if w.Session() != s || hold.Err() != nil || ended != nil {
			t.Errorf("session %v, hold %v", s.Err(), ended)
		}
		hold.Release()
	})
}

// silent dials an ensemble of which some servers take connections and never say a word.
func silent(t *testing.T, ens *zktest.Ensemble, mute ...string) func(ctx context.Context, network, address string) (net.Conn, error) {
	black := zktest.NewServer()
	t.Cleanup(func() { black.Close() })
	dead, alive := black.NewLink(), ens.NewLink()
	dead.Mute()
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if slices.Contains(mute, address) {
			return dead.DialContext(ctx, network, address)
		}
		return alive.DialContext(ctx, network, address)
	}
}

// The order of the servers is random: each of many clients is a seed of its own.
func TestNewClientsGetPastASilentServer(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ens := zktest.NewEnsemble(3)
		t.Cleanup(func() { ens.Close() })
		late, slowest := 0, time.Duration(0)
		for range 120 {
			client, err := framework.NewClient(strings.Join(ens.Addrs(), ","), framework.WithDialer(silent(t, ens, "server1:2181")))
			must(t, err)
			before := time.Now()
			if _, err := client.Exists(t.Context(), "/"); err != nil {
				t.Errorf("the first operation: %v", err)
			}
			d := time.Since(before)
			slowest = max(slowest, d)
			if d > 0 {
				late++
			}
			wantErr(t, client.Close())
		}
		if slowest < 2*time.Second || slowest > 2100*time.Millisecond {
			t.Errorf("the slowest first operation took %v, want 2 s and a pause", slowest)
		}
		if late < 15 || late > 65 {
			t.Errorf("%d of 120 clients met the silent server first, want about 40", late)
		}
	})
}

// The server answers handshakes after five seconds, as one may that has just been elected.
func TestAServerThatIsSlowToAnswerHandshakesGetsMoreTimeInEachRound(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.NewServer()
		t.Cleanup(func() { srv.Close() })
		var dials []time.Time
		link := srv.NewLink()
		w := &env{&clienttest.Env{T: t, Server: srv}}
		client := w.Dial("zk:2181", framework.WithSessionTimeout(time.Minute), framework.WithConnectionTimeout(15*time.Second),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				dials = append(dials, time.Now())
				link.SetLatency(0)
				conn, err := link.DialContext(ctx, network, address)
				link.SetLatency(2500 * time.Millisecond) // each way
				return conn, err
			}))
		must(t, client.BlockUntilConnected(w.Within(30*time.Second)))
		if len(dials) != 3 {
			t.Fatalf("%d attempts: handshakes of 2, 4 and 8 seconds should do", len(dials))
		}
		for i, want := range []time.Duration{2 * time.Second, 4 * time.Second} {
			if d := dials[i+1].Sub(dials[i]); d < want || d > want+100*time.Millisecond {
				t.Errorf("attempt %d took %v, want %v", i+1, d, want)
			}
		}
	})
}

// A server that starts refuses connections, and may then take one whose handshake it never answers.
func TestServerThatRefusedForAWhileAndForgetsAHandshakeIsLeftAfterTwoSeconds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.NewServer()
		t.Cleanup(func() { srv.Close() })
		w := &env{&clienttest.Env{T: t, Server: srv}}
		var silence atomic.Bool
		var began atomic.Int64
		client := w.Dial("zk:2181", framework.WithSessionTimeout(time.Minute), framework.WithConnectionTimeout(time.Minute),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				if silence.Swap(false) {
					began.Store(time.Now().UnixNano())
					conn, unread := net.Pipe()
					t.Cleanup(func() { unread.Close() })
					go io.Copy(io.Discard, unread)
					return conn, nil
				}
				return srv.DialContext(ctx, network, address)
			}))
		must(t, client.BlockUntilConnected(t.Context()))
		time.Sleep(time.Minute)
		srv.RefuseConnections(true)
		srv.CutAll()
		time.Sleep(10 * time.Second)
		silence.Store(true)
		srv.RefuseConnections(false)
		time.Sleep(1500 * time.Millisecond) // after a pause of at most 1 s, and before the 2 s are over
		if began.Load() == 0 || client.State().IsConnected() {
			t.Fatalf("got state %v, want no connection after a handshake without an answer", client.State())
		}
		must(t, client.BlockUntilConnected(t.Context()))
		if d := time.Since(time.Unix(0, began.Load())); d > 4*time.Second {
			t.Errorf("the handshake without an answer was waited for for %v, want 2 s and a pause", d)
		}
	})
}

func TestAnOperationWithoutAConnectionIsTriedAgainUnderThePolicyButWaitsOnce(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newCutEnv(t, framework.WithConnectionTimeout(7*time.Second), framework.WithRetryPolicy(retry.NTimes(3, 2*time.Second)))
		time.Sleep(time.Second)
		before := time.Now()
		_, err := w.Client.Exists(t.Context(), "/")
		var named *framework.ConnectError
		if d := time.Since(before); d != 13*time.Second || !errors.As(err, &named) {
			t.Errorf("after %v: %v", d, err)
		}
		wantErr(t, err, retry.ErrExhausted)

		time.AfterFunc(10*time.Second, w.Link.Heal)
		if _, err := w.Client.Exists(t.Context(), "/"); err != nil {
			t.Errorf("a server was there again before the last try: %v", err)
		}
	})
}

// A dialer reports the end of an attempt in its own way; errors.Is must not take it for the end of the caller's
// context.
func TestConnectErrorIsTheEndOfTheCallersContextAlone(t *testing.T) {
	refused := errors.New("refused")
	for name, failure := range map[string]error{
		"the attempt's deadline": context.DeadlineExceeded,
		"the attempt's end":      &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("%w: %w", refused, context.Canceled)},
	} {
		zktest.Bubble(t, func(t *testing.T) {
			w := newEnv(t)
			client := w.Dial("zk:2181", framework.WithConnectionTimeout(5*time.Second),
				framework.WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, failure }))
			ends := []error{context.Canceled, context.DeadlineExceeded}

			_, err := client.Session(t.Context())
			var unreachable *framework.ConnectError
			if !errors.As(err, &unreachable) {
				t.Fatalf("%s: got %v", name, err)
			}
			for _, end := range ends {
				if errors.Is(err, end) {
					t.Errorf("%s: after the connection timeout, %v is %v", name, err, end)
				}
			}
			var op *net.OpError
			if name == "the attempt's end" && (!errors.Is(err, refused) || !errors.As(err, &op)) {
				t.Errorf("%s: %v does not unwrap to what the server did", name, err)
			}

			reason := errors.New("reason")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, reason)
			defer cancel()
			_, err = client.Session(ctx)
			wantErr(t, err, reason, context.DeadlineExceeded)
			if errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v is context.Canceled", name, err)
			}
		})
	}
}

func TestEndedContextOfAConnectedClientIsNoConnectError(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		_, err := w.Client.Session(canceled(t))
		wantErr(t, err, context.Canceled)
		var unreachable *framework.ConnectError
		if errors.As(err, &unreachable) {
			t.Errorf("the client is connected, but the error says: %v", err)
		}
	})
}

// An endsMeanwhile ends after a number of looks at it.
type endsMeanwhile struct {
	context.Context
	looks int
}

func (e *endsMeanwhile) Err() error {
	if e.looks--; e.looks >= 0 {
		return nil
	}
	return context.Canceled
}

func TestContextThatEndsMeanwhileDoesNotDenyTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for looks := range 6 {
			_, err := w.Client.Session(&endsMeanwhile{t.Context(), looks})
			var unreachable *framework.ConnectError
			if errors.As(err, &unreachable) {
				t.Errorf("a context that ends after %d looks: got %v, want the session or the context's error", looks, err)
			}
		}
	})
}
