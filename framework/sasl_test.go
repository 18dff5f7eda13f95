package framework_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/saslmd5"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// saslEnv is a server that bob may use, and that takes SASL clients only.
func saslEnv(t *testing.T, opts ...zktest.Option) *env {
	t.Helper()
	w := &env{&clienttest.Env{T: t, Server: zktest.NewServer(append([]zktest.Option{
		zktest.WithSASL(map[string]string{"bob": secret}), zktest.WithSASLRequired(),
	}, opts...)...), States: &clienttest.States{}}}
	t.Cleanup(func() { w.Server.Close() })
	w.Link = w.Server.NewLink()
	return w
}

func bob(password string) framework.Option {
	return framework.WithSASL(saslmd5.New("bob", func(context.Context) (string, error) { return password, nil }))
}

func TestAClientProvesWhoItIsBySASLBeforeAnythingElse(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := saslEnv(t)
		var order []zktest.Op
		w.Server.Observe(func(r zktest.Request) { order = append(order, r.Op) })
		w.Server.Create("/app", nil) // before: a client whose chroot is missing connects again
		client := w.Dial("zk:2181/app", bob(secret), framework.WithAuthorization("digest", []byte("a:b")))
		mine := framework.WithACL(zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: "bob"})
		if _, _, err := client.Create(t.Context(), "/mine", nil, mine); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			w.Link.Reset()
			w.Eventually("reconnected", func() bool { return client.State() == reconnected || client.State() == connected })
			if _, _, err := client.Get(t.Context(), "/mine"); err != nil {
				t.Error(err)
			}
		}
		rounds, next := 0, 0
		for _, op := range order {
			switch {
			case op == zktest.OpSASL:
				rounds++
				next = 0
			case next == 0 && op != zktest.OpSetAuth:
				t.Fatalf("the server heard %v, want the exchange and then setAuth on each connection", order)
			default:
				next++
			}
		}
		if rounds != 8 {
			t.Errorf("the server heard %d tokens, want two on each of four connections: %v", rounds, order)
		}
	})
}

// A ping that came before the end of the exchange would end the connection: the server takes nothing else.
func TestNothingIsSentWhileAMechanismTakesItsTime(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := saslEnv(t)
		slow := saslmd5.New("bob", func(ctx context.Context) (string, error) {
			timer := time.NewTimer(clienttest.SessionTimeout/3 - time.Second)
			defer timer.Stop()
			select {
			case <-timer.C:
				return secret, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		})
		client := w.Dial("zk:2181", framework.WithSASL(slow))
		must(t, client.BlockUntilConnected(w.Within(time.Minute)))
		if n := len(w.Server.Sessions()); n != 1 {
			t.Errorf("there are %d sessions, want 1", n)
		}
	})
}

func TestAShorterSessionCountsAlthoughTheExchangeBehindItFails(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		const short = clienttest.SessionTimeout / 4
		w := saslEnv(t)
		w.Client = w.Dial("zk:2181", bob(secret))
		w.Connected()
		s := w.Session()
		w.Server.SetSessionTimeouts(time.Second, short)
		w.Server.SetSASLPassword("bob", "other")
		w.Link.Cut()
		time.Sleep(2 * short) // the session outlasts it, as it was longer
		w.Link.Heal()
		w.Eventually("taken back", func() bool { return w.Server.Sessions()[0].Timeout == short })
		time.Sleep(time.Second)
		if got := s.Timeout(); got != short {
			t.Errorf("got a session of %v after a handshake that granted %v", got, short)
		}
		w.Server.SetSessionTimeouts(time.Second, time.Hour)
		w.Server.SetSASLPassword("bob", secret)
		time.Sleep(time.Second)
		if got := w.Server.Sessions()[0].Timeout; got != short || w.Session() != s {
			t.Errorf("got a session of %v at the server, want the same one, of %v", got, short)
		}
	})
}

func TestASASLExchangeThatIsRefusedAtFirstIsFinal(t *testing.T) {
	for name, opts := range map[string][]zktest.Option{
		"wrong password":                {zktest.WithSASL(map[string]string{"bob": "other"})},
		"wrong password, SASL required": {zktest.WithSASL(map[string]string{"bob": "other"}), zktest.WithSASLRequired()},
		"unknown user":                  {zktest.WithSASL(map[string]string{"eve": secret})},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := &env{&clienttest.Env{T: t, Server: zktest.New(t, opts...), States: &clienttest.States{}}}
				w.Link = w.Server.NewLink()
				client := w.Dial("zk:2181", bob(secret), framework.WithStateListener(w.States.Hear))
				err := client.BlockUntilConnected(w.Within(time.Minute))
				wantErr(t, err, framework.ErrAuthRefused)
				wantErr(t, client.Err(), framework.ErrAuthRefused)
				for _, want := range []string{"zk:2181", "SASL DIGEST-MD5"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("got %q, want %q in it", err, want)
					}
				}
				synctest.Wait()
				w.States.Want(t, lost)
			})
		})
	}
}

func TestAClientWithoutSASLIsRefusedByAServerThatRequiresIt(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := saslEnv(t)
		client := w.Dial("zk:2181")
		_, err := client.Exists(w.Within(time.Minute), "/")
		wantErr(t, err, framework.ErrAuthRefused)
		if want := "enforce.auth.schemes"; !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	})
}

// Such a server answers without a token, as one does at the end of another mechanism's exchange.
func TestAServerWithoutSASLIsNotTakenForOneThatAgrees(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newEnv(t)
		client := w.Dial("zk:2181", bob(secret), framework.WithRetryPolicy(retry.Never()))
		err := client.BlockUntilConnected(w.Within(10 * time.Second))
		var unreachable *framework.ConnectError
		if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "no SASL with DIGEST-MD5 configured") {
			t.Errorf("got %v, want a ConnectError that says so", err)
		}
		if client.Err() != nil {
			t.Errorf("got %v, want nil: another server may have it", client.Err())
		}
	})
}

// Such a session is unused, and without an end it would stay at the server until its timeout.
func TestASessionWhoseExchangeFailedIsClosed(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		attempts := 0
		client := w.Dial("zk:2181", framework.WithSASL(saslmd5.New("bob", func(context.Context) (string, error) {
			attempts++
			return "", errors.New("vault is sealed")
		})))
		_ = client.BlockUntilConnected(w.Within(clienttest.SessionTimeout / 2))
		_ = client.Close()
		synctest.Wait()
		if left := len(w.Server.Sessions()); left != 1 || attempts < 5 { // the environment's own
			t.Errorf("after %d attempts %d sessions are left, want 1", attempts, left)
		}
	})
}

func TestALeaseLivesThroughAReconnectionWithAnotherPassword(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := saslEnv(t)
		var password atomic.Pointer[string]
		first, next := secret, "new"
		password.Store(&first)
		client := w.Dial("zk:2181", framework.WithSASL(saslmd5.New("bob", func(context.Context) (string, error) { return *password.Load(), nil })))
		s, err := client.Session(t.Context())
		must(t, err)
		binding, err := s.Bind(func(err error) { t.Errorf("the lease has ended: %v", err) }, nil)
		must(t, err)
		defer binding.Release()
		w.Server.SetSASLPassword("bob", next)
		w.Link.Reset()
		synctest.Wait()
		time.Sleep(clienttest.SessionTimeout / 4) // refused meanwhile, again and again
		if client.Err() != nil || s.Connected() {
			t.Fatalf("a refusal on a reconnection: got %v, connected %t, want neither", client.Err(), s.Connected())
		}
		password.Store(&next)
		w.Eventually("reconnected", s.Connected)
		time.Sleep(3 * clienttest.SessionTimeout)
		if binding.Err() != nil {
			t.Errorf("got %v, want a lease that goes on", binding.Err())
		}
	})
}

// Two of three servers do not know the new password yet.
func TestAServerThatRefusesAReconnectionIsLeftForOthers(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		e := zktest.NewEnsemble(3, zktest.WithSASL(map[string]string{"bob": secret}), zktest.WithSASLRequired())
		defer e.Close()
		x := &exchange{}
		x.replace(map[string]*zktest.Server{"a:1": e.Server(0), "b:1": e.Server(1), "c:1": e.Server(2)})
		w := &env{&clienttest.Env{T: t, Link: e.Server(0).NewLink()}}
		client := w.Dial("a:1,b:1,c:1", bob(secret), framework.WithDialer(x.DialContext))
		s, err := client.Session(t.Context())
		must(t, err)
		for i := range 3 {
			for j := range 3 {
				password := "other"
				if i == j {
					password = secret
				}
				e.Server(j).SetSASLPassword("bob", password)
			}
			for j := range 3 {
				e.Server(j).CutAll()
			}
			w.Eventually("reconnected", s.Connected)
			if err := client.Err(); err != nil || s.Err() != nil {
				t.Fatalf("round %d: got %v, session %v, want the same session", i, err, s.Err())
			}
			time.Sleep(2 * time.Second) // the attachment lasts
		}
	})
}

func TestARefusalThatOutlastsTheSessionIsFinal(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := saslEnv(t)
		client := w.Dial("zk:2181", bob(secret), framework.WithStateListener(w.States.Hear))
		s, err := client.Session(t.Context())
		must(t, err)
		w.Server.SetSASLPassword("bob", "other")
		w.Link.Reset()
		begun := time.Now()
		<-s.Done()
		if d := time.Since(begun); d < clienttest.SessionTimeout/2 {
			t.Errorf("the session was over after %v, want other attempts until its timeout", d)
		}
		w.Eventually("refused", func() bool { return client.Err() != nil })
		wantErr(t, client.Err(), framework.ErrAuthRefused)
	})
}

// The question how far a server's data goes has a connection of its own, and the server takes SASL clients only there,
// too.
func TestAYoungerEnsembleThatRequiresSASLIsRecognised(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		users := []zktest.Option{zktest.WithSASL(map[string]string{"bob": secret}), zktest.WithSASLRequired()}
		old, fresh := zktest.NewServer(users...), zktest.NewServer(users...)
		defer old.Close()
		defer fresh.Close()
		x := &exchange{}
		x.replace(map[string]*zktest.Server{"zk:2181": old})
		w := &env{&clienttest.Env{T: t, Link: old.NewLink()}}
		client := w.Dial("zk:2181", bob(secret), framework.WithDialer(x.DialContext))
		for range 100 {
			if _, _, err := client.Create(t.Context(), "/n-", nil, framework.WithMode(framework.PersistentSequential)); err != nil {
				t.Fatal(err)
			}
		}
		x.replace(map[string]*zktest.Server{"zk:2181": fresh})
		w.Eventually("the client goes on", func() bool {
			s, err := client.Session(t.Context())
			return err == nil && s.EnsembleGeneration() == 1
		})
	})
}

func TestAnACLOfSchemeSASLIsForThatUserAndSuper(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := saslEnv(t, zktest.WithSASL(map[string]string{"bob": secret, "eve": "e", "super": "s"}))
		owner := w.Dial("zk:2181", bob(secret))
		if _, _, err := owner.Create(t.Context(), "/mine", nil, framework.WithACL(zk.AuthACL(zk.PermAll)...)); err != nil {
			t.Fatal(err)
		}
		acl, _, err := owner.ACL(t.Context(), "/mine")
		if want := (zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: "bob"}); err != nil || len(acl) != 1 || acl[0] != want {
			t.Errorf("the scheme auth became %v, %v, want %v", acl, err, want)
		}
		for user, want := range map[string]error{"eve": zk.ErrNoAuth, "super": nil} {
			password := user[:1]
			client := w.Dial("zk:2181", framework.WithSASL(saslmd5.New(user, func(context.Context) (string, error) { return password, nil })))
			if _, _, err := client.Get(t.Context(), "/mine"); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", user, err, want)
			}
		}
	})
}
