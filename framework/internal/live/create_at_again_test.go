package live_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// Each create finds its parent missing: another client deletes it again and again.
func TestCreateAtPausesWhereItsParentIsDeletedAgainAndAgain(t *testing.T) {
	for _, path := range []string{"/dir/a", "/top/dir/a"} {
		t.Run(path, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				stop := w.Server.Observe(func(r zktest.Request) {
					if r.Op == zktest.OpCreate2 && r.Path == path {
						_ = w.Server.Delete("/dir") // there is one of them at most
						_ = w.Server.Delete("/top/dir")
					}
				})
				s := w.Session()
				wantErr(t, s.CreateAt(w.Within(time.Minute), path, nil, nil), context.DeadlineExceeded)
				if n := w.Count(zktest.OpCreate2); n < 30 || n > 150 {
					t.Errorf("got %d creates in a minute, want about one in a second", n)
				}
				stop()
				wantErr(t, s.CreateAt(w.Within(2*time.Second), path, nil, nil))
			})
		})
	}
}

// An overloaded server refuses each create, and keeps the connection.
func TestCreateAtAtAnOverloadedServerPausesAndKeepsTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for i := range 20 {
			w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpCreate2, Nth: i + 1})
		}
		before := len(w.States.All())
		began := time.Now()
		wantErr(t, w.Session().CreateAt(w.Within(time.Minute), "/a", nil, nil))
		if took := time.Since(began); took < 5*time.Second || len(w.States.All()) != before {
			t.Errorf("got it after %v, with the states %v; want pauses, and no loss", took, w.States.All())
		}
	})
}

// The cause of a context may be any error, a server's answer to another request for instance. It is no answer to the
// create, which is executed after the caller has left.
func TestACreateAtWhoseContextEndsWithAServersErrorLeavesNoNode(t *testing.T) {
	for name, cause := range map[string]error{
		"none": nil, "a node exists": zk.ErrNodeExists, "none exists": zk.ErrNoNode, "a version": zk.ErrBadVersion, "no right": zk.ErrNoAuth,
		"a connection": session.ErrConnectionLost, "a session": session.ErrSessionLost,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				proceed := w.Server.Stall(zktest.Match{Op: zktest.OpCreate2})
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(cause) })
				began := time.Now()
				err := s.CreateAt(ctx, "/a", nil, nil)
				if !errors.Is(err, context.Cause(ctx)) || time.Since(began) != time.Second {
					t.Errorf("got %v after %v, want %v after a second", err, time.Since(began), context.Cause(ctx))
				}
				w.Server.CutSession(s.ID())
				time.Sleep(time.Second)
				proceed()
				synctest.Wait()
				if !w.Server.Exists("/a") {
					t.Fatal("got no node, the test needs one that is created late")
				}
				time.Sleep(5 * clienttest.SessionTimeout)
				if w.Server.Exists("/a") || s.Err() != nil {
					t.Errorf("got a node %t, session error %v; want neither", w.Server.Exists("/a"), s.Err())
				}
			})
		})
	}
}

// After an error of its context CreateAt leaves no node, also if an earlier call has made it.
func TestACreateAtThatEndsWithItsContextLeavesNoNodeOfAnEarlierOne(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wantErr(t, s.CreateAt(ctx, "/a", nil, nil), context.Canceled)
		w.Eventually("removed", func() bool { return !w.Server.Exists("/a") })
	})
}

// Every connection ends on the create. The caller hears which request it is, and no node remains.
func TestCreateAtThatEndsEveryConnectionFails(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		for n := range 20 {
			w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate2, Nth: n + 1})
			w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate, Nth: n + 1})
		}
		err := s.CreateAt(w.Within(time.Minute), "/a", nil, nil)
		var hangUp *framework.DisconnectError
		if !errors.As(err, &hangUp) || hangUp.Path != "/a" || s.Err() != nil {
			t.Errorf("got %v, session error %v; want a DisconnectError for /a, and none", err, s.Err())
		}
	})
}
