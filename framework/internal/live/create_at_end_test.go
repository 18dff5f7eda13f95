package live_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// A step is a moment at which CreateAt of /dir/a waits. It returns what lets the server or the network go on.
var createAtSteps = map[string]func(w *env) (goOn func()){
	"for a connection": func(w *env) func() {
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return w.Client.State() == framework.StateSuspended })
		return w.Link.Heal
	},
	"for the create": func(w *env) func() { return w.Server.HoldRequest(zktest.Match{Op: zktest.OpCreate2}) },
	"for a parent":   func(w *env) func() { return w.Server.HoldRequest(zktest.Match{Op: zktest.OpCreateContainer}) },
	"for the create behind a parent": func(w *env) func() {
		return w.Server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Nth: 2})
	},
	"for the second create": func(w *env) func() {
		w.Make("/dir")
		w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate2})
		return w.Server.HoldRequest(zktest.Match{Op: zktest.OpCreate2, Nth: 2})
	},
	"for the look": func(w *env) func() {
		w.Make("/dir")
		w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
		return w.Server.HoldRequest(zktest.Match{Op: zktest.OpExists})
	},
	"for the next connection": func(w *env) func() {
		w.Make("/dir")
		w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
		w.Server.RefuseConnections(true)
		return func() { w.Server.RefuseConnections(false) }
	},
	"for the end of a removal": func(w *env) func() {
		wantErr(w, w.Session().CreateAt(w.Context(), "/dir/a", nil, nil))
		goOn := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		w.Session().RemoveAt("/dir/a")
		return goOn
	},
}

func TestCreateAtWhoseContextEndsAtAnyStepLeavesNoNode(t *testing.T) {
	for name, step := range createAtSteps {
		t.Run("waiting "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				goOn := step(w)
				wantErr(t, s.CreateAt(w.Within(time.Second), "/dir/a", nil, nil), context.DeadlineExceeded)
				goOn()
				time.Sleep(5 * clienttest.SessionTimeout)
				if w.Server.Exists("/dir/a") || s.Err() != nil {
					t.Errorf("got a node: %t, session error %v; want neither", w.Server.Exists("/dir/a"), s.Err())
				}
			})
		})
	}
}

func TestCreateAtWhoseSessionEndsAtAnyStepLeavesNoNode(t *testing.T) {
	for name, step := range createAtSteps {
		t.Run("waiting "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				goOn := step(w)
				created := make(chan error, 1)
				go func() { created <- s.CreateAt(t.Context(), "/dir/a", nil, nil) }()
				time.Sleep(time.Second)
				w.Server.ExpireSession(s.ID())
				synctest.Wait()
				goOn()
				wantErr(t, <-created, framework.ErrSessionLost)
				r := s.RemoveAt("/dir/a")
				<-r.Done()
				wantErr(t, r.Err(), framework.ErrSessionLost)
				w.Connected()
				time.Sleep(5 * clienttest.SessionTimeout)
				if w.Server.Exists("/dir/a") {
					t.Error("got a node, want none")
				}
				wantErr(t, w.Session().CreateAt(t.Context(), "/dir/a", nil, nil))
			})
		})
	}
}

func TestCreateAtWithAContextThatHasEndedAsksForNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		seen := w.observe()
		wantErr(t, s.CreateAt(ctx, "/a", nil, nil), context.Canceled)
		time.Sleep(5 * clienttest.SessionTimeout)
		if i := seen.index(zktest.OpCreate2.String() + " /a"); i >= 0 || w.Server.Exists("/a") {
			t.Errorf("got the requests %q, want no create", seen.all)
		}
	})
}

// The creator's own permission is missing: nothing was created, and nothing is left to be looked for.
func TestCreateAtThatIsRefusedSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		w.protect("/dir", zk.PermAll&^zk.PermCreate)
		w.Make("/leaf")
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/dir/a", nil, nil), zk.ErrNoAuth)
		wantErr(t, s.CreateAt(t.Context(), "/dir/b/a", nil, nil), zk.ErrNoAuth)
		wantErr(t, s.CreateAt(t.Context(), "/leaf/a", nil, nil))
		wantErr(t, s.CreateAt(t.Context(), "/leaf/a/b", nil, nil), zk.ErrNoChildrenForEphemerals)
		wantErr(t, s.CreateAt(t.Context(), "/leaf/b", make([]byte, 2<<20), nil), framework.ErrTooLarge)
		r := s.RemoveAt("/dir/a")
		<-r.Done()
		wantErr(t, r.Err())
	})
}
