package framework_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// The bubbles of these tests prove that no goroutine is left.

func closesWithin(t *testing.T, client *framework.Client, limit time.Duration) error {
	t.Helper()
	before := time.Now()
	err := client.Close()
	if d := time.Since(before); d > limit {
		t.Errorf("Close took %v", d)
	}
	return err
}

func TestCloseIsPromptInEveryPhase(t *testing.T) {
	black := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, phase := range map[string]struct {
		opts    []framework.Option
		bring   func(w *env)
		confirm bool // the server confirms
	}{
		"never connected": {bring: func(*env) {}, opts: []framework.Option{framework.WithDialer(black)}, confirm: true},
		"dialing": {
			bring: func(*env) { time.Sleep(time.Hour) }, opts: []framework.Option{framework.WithDialer(black)}, confirm: true,
		},
		"in the handshake": {bring: func(w *env) {
			_ = w.Client.Close() // it may have been quicker
			w.Server.Freeze()
			w.Client = w.Dial("zk:2181")
			time.Sleep(time.Second)
		}, confirm: true},
		"attached":     {bring: func(w *env) { w.Connected() }, confirm: true},
		"detached":     {bring: func(w *env) { w.Connected(); w.Link.Cut(); time.Sleep(time.Second) }},
		"server mute":  {bring: func(w *env) { w.Connected(); w.Link.Mute(); time.Sleep(time.Second) }},
		"session over": {bring: func(w *env) { w.Connected(); w.Link.Cut(); time.Sleep(2 * clienttest.SessionTimeout) }, confirm: true},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := newEnv(t, phase.opts...)
				phase.bring(w)
				if err := closesWithin(t, w.Client, time.Second); (err == nil) != phase.confirm {
					t.Errorf("Close says %v", err)
				}
				_, err := w.Client.Exists(t.Context(), "/")
				wantErr(t, err, framework.ErrClosed)
				wantErr(t, w.Client.BlockUntilConnected(t.Context()), framework.ErrClosed)
			})
		})
	}
}

func TestCloseEndsTheSessionAtTheServer(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/e", framework.WithMode(framework.Ephemeral))
		wantErr(t, closesWithin(t, w.Client, 0))
		if len(w.Server.Sessions()) != 0 || w.Server.Exists("/e") {
			t.Errorf("got sessions %v at the server, node /e there: %t; want neither",
				w.Server.Sessions(), w.Server.Exists("/e"))
		}
	})
}

func TestCloseEndsWaitsWithErrClosed(t *testing.T) {
	for name, what := range map[string]func(w *env) error{
		"an operation without a connection": func(w *env) error {
			_, err := w.Client.Exists(w.Context(), "/")
			return err
		},
		"BlockUntilConnected": func(w *env) error { return w.Client.BlockUntilConnected(w.Context()) },
		"a session's CreateProtected": func(w *env) error {
			_, err := w.Session().CreateProtected(w.Context(), "/locks", "lock-", nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				_ = s
				if name != "a session's CreateProtected" {
					w.Link.Cut()
				} else {
					release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpCreate2})
					defer release()
				}
				synctest.Wait()
				var wg sync.WaitGroup
				wg.Go(func() { wantErr(t, what(w), framework.ErrClosed) })
				synctest.Wait()
				_ = closesWithin(t, w.Client, time.Second)
				wg.Wait()
			})
		})
	}
}

func TestCloseEndsThePauseBeforeARetry(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Server.DropReply(zktest.Match{Op: zktest.OpExists})
		var wg sync.WaitGroup
		var took time.Duration
		wg.Go(func() {
			before := time.Now()
			_, err := w.Client.Exists(t.Context(), "/")
			took = time.Since(before)
			wantErr(t, err, framework.ErrClosed)
			if errors.Is(err, context.Canceled) {
				t.Errorf("the caller's context goes on, but %v is context.Canceled", err)
			}
		})
		time.Sleep(time.Minute)
		_ = w.Client.Close()
		wg.Wait()
		if took != time.Minute {
			t.Errorf("the operation ended after %v, not with the client", took)
		}
	}, framework.WithRetryPolicy(retry.Forever(time.Hour)))
}

func TestCloseEndsBindingsBeforeTheServerHearsOfIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		var cause error
		if _, err := w.Session().Bind(func(err error) { cause = err }, nil); err != nil {
			t.Fatal(err)
		}
		w.Server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpCloseSession && cause == nil {
				t.Error("got the session closed while a hold lasts, want the hold ended first")
			}
		})
		wantErr(t, w.Client.Close())
		wantErr(t, cause, framework.ErrClosed)
	})
}

func TestAnyFacadeClosesAll(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		wantErr(t, w.Client.UsingNamespace("app").Close())
		_, err := w.Client.Exists(t.Context(), "/")
		wantErr(t, err, framework.ErrClosed)
	})
}

func TestManyClientsLeaveNoGoroutine(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newEnv(t)
		var wg sync.WaitGroup
		for range 50 {
			client := w.Dial("zk:2181")
			wg.Go(func() {
				if _, _, err := client.Create(t.Context(), "/n-", nil, framework.WithMode(framework.EphemeralSequential)); err != nil {
					t.Error(err)
				}
				wantErr(t, client.Close())
			})
		}
		wg.Wait()
		synctest.Wait()
		if n := len(w.Server.Children("/")); n != 1 {
			t.Errorf("%v is left", w.Server.Children("/"))
		}
	})
}

// The chroot is looked for on a connection that Close waits for: its answer must not end the connection before Close
// has its own.
func TestCloseWhileTheChrootIsFoundToBeMissingEndsTheSession(t *testing.T) {
	for at := 230 * time.Millisecond; at < 300*time.Millisecond; at += 20 * time.Millisecond {
		zktest.Bubble(t, func(t *testing.T) {
			srv := zktest.New(t)
			link := srv.NewLink()
			link.SetLatency(50 * time.Millisecond)
			client, err := framework.NewClient("zk:2181/missing", framework.WithDialer(link.DialContext))
			must(t, err)
			time.Sleep(at)
			err = client.Close()
			time.Sleep(200 * time.Millisecond)
			if left := srv.Sessions(); err != nil || len(left) > 0 {
				t.Errorf("closed after %v: got %v and sessions %v, want none", at, err, left)
			}
		})
	}
}
