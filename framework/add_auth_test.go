package framework_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

func TestAnAddedAuthorizationHoldsOnAllConnectionsAndSessionsThatFollow(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		owner := w.Dial("zk:2181", framework.WithAuthorization("digest", []byte("bob:"+secret)))
		if _, _, err := owner.Create(t.Context(), "/mine", nil, framework.WithACL(zk.AuthACL(zk.PermAll)...)); err != nil {
			t.Fatal(err)
		}
		_ = owner.Close()
		_, _, err := w.Client.Get(t.Context(), "/mine")
		wantErr(t, err, zk.ErrNoAuth)
		for range 2 { // the second adds nothing
			must(t, w.Client.AddAuth(t.Context(), "digest", []byte("bob:"+secret)))
		}
		may := func(when string) {
			t.Helper()
			if _, _, err := w.Client.Get(t.Context(), "/mine"); err != nil {
				t.Errorf("%s: got %v, want nil", when, err)
			}
		}
		may("on the connection that there was")
		before := w.Count(zktest.OpSetAuth)
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == reconnected })
		may("on the next one")
		if got := w.Count(zktest.OpSetAuth) - before; got != 1 {
			t.Errorf("the next connection began with %d authorizations, want 1", got)
		}
		w.Server.ExpireSession(w.Session().ID())
		w.Eventually("a new session", func() bool { return w.States.Has(lost) && w.Client.State() == reconnected })
		may("in the next session")
	})
}

func TestARefusedAddedAuthorizationFailsTheCallAndNotTheClient(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		lease := w.Bind()
		s := w.Session()
		err := w.Client.AddAuth(t.Context(), "kerberos", []byte(secret))
		wantErr(t, err, framework.ErrAuthRefused)
		if got, want := err.Error(), `framework: add authorization "kerberos": authentication refused by the server`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		wantErr(t, w.Client.Err())
		if w.Session() != s || s.Err() != nil {
			t.Errorf("the session: got %v, want the same", s.Err())
		}
		time.Sleep(3 * clienttest.SessionTimeout)
		if lease.Ended() {
			t.Errorf("the lease has ended: %v", lease.Cause)
		}
		if n := w.Count(zktest.OpSetAuth); n != 1 {
			t.Errorf("the server heard it %d times, want once", n)
		}
	})
}

// The server executes the request, and its answer is lost.
func TestAnAddedAuthorizationWhoseAnswerIsLostIsSentAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Server.DropReply(zktest.Match{Op: zktest.OpSetAuth})
		wantErr(t, w.Client.AddAuth(t.Context(), "digest", []byte("bob:"+secret)))
		if n := w.Count(zktest.OpSetAuth); n != 2 {
			t.Errorf("the server heard it %d times, want twice", n)
		}
	})
}

func TestAuthorizationsThatAreAddedTogetherGetTheirOwnAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var wg sync.WaitGroup
		for _, scheme := range []string{"digest", "nosuch", "digest", "ip", "nosuch"} {
			wg.Go(func() {
				err := w.Client.AddAuth(t.Context(), scheme, []byte("bob:"+secret))
				if refused := scheme == "nosuch"; (err != nil) != refused {
					t.Errorf("%s: got %v, refused: want %t", scheme, err, refused)
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		wantErr(t, w.Client.Err())
	})
}

func TestAnAuthorizationWithoutASchemeIsNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		if err := w.Client.AddAuth(t.Context(), "", nil); err == nil || !strings.Contains(err.Error(), "scheme is empty") {
			t.Errorf("got %v, want an error that says so", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		wantErr(t, w.Client.AddAuth(ended, "digest", []byte("a:b")), context.Canceled)
		if n := w.Count(zktest.OpSetAuth); n != 0 {
			t.Errorf("the server heard %d, want none", n)
		}
	})
}

func TestARefusedAuthorizationWhoseAnswerIsLostIsStillTheCallsAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		b := w.Bind()
		w.Make("/a")
		l := w.loop(w.Client.Watch, "/a")
		for i := range 3 {
			w.Server.DropReply(zktest.Match{Op: zktest.OpSetAuth, Nth: i + 1})
		}
		wantErr(t, w.Client.AddAuth(t.Context(), "nosuch", []byte("x")), framework.ErrAuthRefused)
		must(t, w.Server.SetData("/a", []byte("2")))
		time.Sleep(time.Minute)
		l.want(t, "data 1", "data 2")
		if b.Ended() || w.Client.Err() != nil {
			t.Errorf("the lease has ended: %v, the client says %v", b.Cause, w.Client.Err())
		}
	})
}

// The connection breaks and comes back while authorizations are added that are refused, and others that are accepted.
func TestAuthorizationsAreAddedWhileTheConnectionBreaks(t *testing.T) {
	for at := range 40 {
		bubble(t, func(t *testing.T, w *env) {
			w.Link.SetLatency(time.Millisecond)
			b := w.Bind()
			time.AfterFunc(time.Duration(at)*250*time.Microsecond, w.Link.Reset)
			refused, accepted := make(chan error, 1), make(chan error, 1)
			go func() { refused <- w.Client.AddAuth(w.Context(), "nosuch", []byte("x")) }()
			go func() { accepted <- w.Client.AddAuth(w.Context(), "digest", []byte("a:b")) }()
			wantErr(t, <-refused, framework.ErrAuthRefused)
			if err := <-accepted; err != nil {
				t.Errorf("broken after %d quarters of a millisecond: %v", at, err)
			}
			w.Link.Reset()
			if _, err := w.Client.Exists(t.Context(), "/"); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
			if b.Ended() || w.Client.Err() != nil {
				t.Errorf("the lease has ended: %v, the client says %v", b.Cause, w.Client.Err())
			}
		})
	}
}

func TestEmptyCredentialsAreRefusedBeforeTheyAreSent(t *testing.T) {
	const want = `credentials of scheme "digest" are empty, they are "user:password"`
	for name, credentials := range map[string][]byte{"nil": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				client, err := framework.NewClient("zk:2181",
					framework.WithDialer(w.Link.DialContext), framework.WithAuthorization("digest", credentials))
				if client != nil {
					_ = client.Close()
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("NewClient: got %v, want an error with %s", err, want)
				}
				sent := w.Count(zktest.OpSetAuth)
				err = w.Client.AddAuth(t.Context(), "digest", credentials)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("AddAuth: got %v, want an error with %s", err, want)
				}
				if got := w.Count(zktest.OpSetAuth); got != sent {
					t.Errorf("requests of AddAuth: got %d, want none", got-sent)
				}
				// What a server makes of other schemes is not known here.
				w.Dial("zk:2181", framework.WithAuthorization("token", credentials))
			})
		})
	}
}

// A caller may wipe its credentials after the call: later connections need them.
func TestCredentialsAreCopied(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for name, add := range map[string]func(credentials []byte) *framework.Client{
			"WithAuthorization": func(credentials []byte) *framework.Client {
				return w.Dial("zk:2181", framework.WithAuthorization("digest", credentials))
			},
			"AddAuth": func(credentials []byte) *framework.Client {
				client := w.Dial("zk:2181")
				wantErr(t, client.AddAuth(t.Context(), "digest", credentials))
				return client
			},
		} {
			credentials := []byte("bob:" + secret)
			client := add(credentials)
			path := "/of" + name
			if _, _, err := client.Create(t.Context(), path, nil, framework.WithACL(zk.AuthACL(zk.PermAll)...)); err != nil {
				t.Fatal(err)
			}
			clear(credentials)
			w.Link.Reset()
			time.Sleep(time.Minute)
			if _, _, err := client.Get(t.Context(), path); err != nil {
				t.Errorf("%s, on the next connection: got %v, want nil", name, err)
			}
		}
	})
}
