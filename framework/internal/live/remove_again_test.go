package live_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// protect takes DELETE on a directory away, or gives it back.
func (w *env) protect(dir string, permissions int32) {
	w.Helper()
	if _, err := w.Client.SetACL(w.Context(), dir, zk.WorldACL(permissions), -1); err != nil {
		w.Fatal(err)
	}
}

// DELETE is missing for a while. A request follows its return within as long as it was missing, and within a session
// timeout.
func TestARefusedRemovalIsAskedForAgain(t *testing.T) {
	const timeout = clienttest.SessionTimeout
	for name, missing := range map[string]time.Duration{
		"for a moment": 700 * time.Millisecond, "for a timeout": timeout, "for an hour": time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/dir")
				entry, err := w.Session().CreateProtected(t.Context(), "/dir", "n-", nil)
				must(t, err)
				w.protect("/dir", zk.PermAll&^zk.PermDelete)
				r := w.Session().Remove(entry.Path)
				<-r.Done()
				wantErr(t, r.Err(), zk.ErrNoAuth)
				time.Sleep(missing)
				asked := w.Count(zktest.OpDelete)
				if most := 6 + int(missing/timeout); asked > most {
					t.Errorf("got %d requests in %v, want at most %d", asked, missing, most)
				}
				w.protect("/dir", zk.PermAll)
				began := time.Now()
				w.Eventually("removed", func() bool { return !w.Server.Exists(entry.Path) })
				if late := time.Since(began); late > min(timeout, max(missing, timeout/8)) {
					t.Errorf("got it removed %v after the permission came back", late)
				}
				asked = w.Count(zktest.OpDelete)
				time.Sleep(10 * timeout)
				if again := w.Count(zktest.OpDelete); again != asked {
					t.Errorf("got %d requests after the removal, want none", again-asked)
				}
			}, framework.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
			if n := strings.Count(log.String(), "could not be removed"); n != 1 {
				t.Errorf("got %d records at Warn, want one: %s", n, log.String())
			}
		})
	}
}

// The connection breaks while the removal is refused: the next one goes on.
func TestARefusedRemovalIsAskedForAgainOnTheNextConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		entry, err := w.Session().CreateProtected(t.Context(), "/dir", "n-", nil)
		must(t, err)
		w.protect("/dir", zk.PermAll&^zk.PermDelete)
		<-w.Session().Remove(entry.Path).Done()
		w.protect("/dir", zk.PermAll)
		w.Link.Cut()
		time.Sleep(3 * time.Second)
		w.Link.Heal()
		w.Eventually("removed", func() bool { return !w.Server.Exists(entry.Path) })
		wantErr(t, w.Session().Err())
	})
}

// A guaranteed deletion is the user's: a refusal ends it. Another node may stand at the path by the time that the
// permission comes back.
func TestARefusedGuaranteedDeletionIsNotAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		w.Make("/dir/a")
		w.protect("/dir", zk.PermAll&^zk.PermDelete)
		release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		if err := w.Client.Delete(w.Within(time.Second), "/dir/a", -1, framework.Guaranteed()); err == nil {
			t.Fatal("got no error, the test needs a deletion that goes on in the background")
		}
		release()
		time.Sleep(time.Second)
		w.protect("/dir", zk.PermAll)
		time.Sleep(time.Hour)
		if !w.Server.Exists("/dir/a") {
			t.Error("got the node removed, want it left")
		}
	})
}

// Connections end on the removal for longer than a session timeout, and then no more. The authorization is answered on
// each of them.
func TestARemovalThatConnectionsEndOnIsAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		entry, err := w.Session().CreateProtected(t.Context(), "/dir", "n-", nil)
		must(t, err)
		stop := w.Server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpSetAuth { // the first of a connection
				w.Server.DropRequest(zktest.Match{Op: zktest.OpDelete})
			}
		})
		w.Link.Reset()
		w.Eventually("connected", w.Session().Connected)
		r := w.Session().Remove(entry.Path)
		select {
		case <-r.Done():
		case <-time.After(time.Minute):
			t.Error("got no end of the removal, want it refused after a few connections")
		}
		stop()
		<-r.Done()
		var hangUp *framework.DisconnectError
		if !errors.As(r.Err(), &hangUp) || !w.Server.Exists(entry.Path) {
			t.Fatalf("got %v, the test needs a removal that connections end on", r.Err())
		}
		w.Eventually("removed", func() bool { return !w.Server.Exists(entry.Path) })
		wantErr(t, w.Session().Err())
	}, framework.WithAuthorization("digest", []byte("a:b")))
}
