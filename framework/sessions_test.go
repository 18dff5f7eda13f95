package framework_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
)

func TestSessionsThatEndAtOncePauseEverLonger(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		opened := map[int64]bool{}
		ctx := w.Within(time.Minute)
		for s, err := range w.Client.Sessions(ctx) {
			if err != nil {
				wantErr(t, err, context.DeadlineExceeded)
				break
			}
			opened[s.ID()] = true
			w.Server.ExpireSession(s.ID())
			<-s.Done()
		}
		if n := len(opened); n < 5 || n > 120 {
			t.Errorf("%d sessions in a minute", n)
		}
		time.Sleep(5 * time.Second)
		w.Connected()
	})
}

func TestSessionsYieldsTheSameSessionWhileItLives(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		want, rounds := w.Session(), 0
		began := time.Now()
		for s, err := range w.Client.Sessions(t.Context()) {
			if rounds++; err != nil || s != want {
				t.Fatalf("round %d: %v, %v", rounds, s, err)
			}
			if rounds == 2 {
				break
			}
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("the first repetition came after %v", d)
		}
	})
}

func TestAPauseBetweenSessionsEndsWithTheClient(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		ended := make(chan error, 1)
		go func() {
			for _, err := range w.Client.Sessions(t.Context()) {
				if err != nil {
					ended <- err
				}
			}
		}()
		time.Sleep(10 * time.Second) // pauses are a second long by now
		began := time.Now()
		_ = w.Client.Close()
		synctest.Wait()
		if err := <-ended; !errors.Is(err, framework.ErrClosed) || time.Since(began) > 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func TestOnlyTheFirstSessionMayBeMissing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Link.Cut()
		time.Sleep(2 * clienttest.SessionTimeout)
		for _, err := range w.Client.Sessions(t.Context()) {
			var unreachable *framework.ConnectError
			if !errors.As(err, &unreachable) {
				t.Errorf("without any connection: %v", err)
			}
		}
		w.Link.Heal()
		w.Connected()
		rounds := 0
		for s, err := range w.Client.Sessions(t.Context()) {
			must(t, err)
			if rounds++; rounds == 2 {
				break
			}
			w.Link.Cut()
			<-s.Done()
			time.AfterFunc(3*clienttest.ConnectionTimeout, w.Link.Heal)
		}
	})
}

func TestAMissingPermissionIsNamed(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/guarded", framework.WithACL(zk.WorldACL(zk.PermRead)...))
		_, _, err := w.Client.Create(t.Context(), "/guarded/a", nil)
		var refused *framework.NoAuthError
		if !errors.As(err, &refused) || refused.Permission != "CREATE" || refused.Node != "/guarded" || refused.Path != "/guarded/a" {
			t.Errorf("got %v", err)
		}
		if want := `framework: create "/guarded/a": no permission to create /guarded/a: the ACL of /guarded does not give this client CREATE`; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
		_, err = w.Client.Transaction(t.Context(), framework.CheckOp("/", -1), framework.SetOp("/guarded", nil, -1))
		if !errors.As(err, &refused) || refused.Permission != "WRITE" || refused.Node != "/guarded" {
			t.Errorf("in a transaction: %v", err)
		}
	})
}
