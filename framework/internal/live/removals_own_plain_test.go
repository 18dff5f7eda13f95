package live_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// A user deletes whatever is at the path while RemoveAt is under way. By then it is another client's node, which
// RemoveAt alone would leave. Both end.
func TestAGuaranteedDeletionIsDoneAlsoWhereRemoveAtIsUnderWay(t *testing.T) {
	for name, held := range map[string]zktest.Op{"the look": zktest.OpExists, "the delete": zktest.OpDelete} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
				release := w.Server.HoldRequest(zktest.Match{Op: held})
				r := s.RemoveAt("/a")
				synctest.Wait()
				wantErr(t, w.Client.Delete(w.Within(time.Second), "/a", -1, framework.Guaranteed()), context.DeadlineExceeded)
				wantErr(t, w.Server.Delete("/a"))
				w.Make("/a")
				if err := w.Server.SetData("/a", nil); err != nil { // a version that RemoveAt has not seen
					t.Fatal(err)
				}
				// The connection goes, and with it all requests.
				w.Server.CutSession(s.ID())
				release()
				<-r.Done()
				wantErr(t, r.Err())
				time.Sleep(clienttest.SessionTimeout)
				if w.Server.Exists("/a") {
					t.Error("got a node, want it deleted")
				}
			})
		})
	}
}

// The answer to the look of RemoveAt comes when Remove has asked for the deletion already. Another request could hit
// the node of a successor.
func TestRemoveThatTakesARemoveAtOverDeletesOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpExists})
		at, plain := s.RemoveAt("/a"), s.Remove("/a")
		release()
		for _, r := range []session.Removal{at, plain} {
			<-r.Done()
			wantErr(t, r.Err())
		}
		synctest.Wait()
		if n := w.Count(zktest.OpDelete); n != 1 || w.Server.Exists("/a") {
			t.Errorf("got %d deletes, node %t; want one, and none", n, w.Server.Exists("/a"))
		}
	})
}

// Both are ended with the session.
func TestRemoveAtAndRemoveOfOnePathEndWithTheSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return w.Client.State() == framework.StateSuspended })
		at, plain, again := s.RemoveAt("/a"), s.Remove("/a"), s.RemoveAt("/a")
		for _, r := range []session.Removal{at, plain, again} {
			<-r.Done()
			wantErr(t, r.Err(), framework.ErrSessionLost)
		}
		w.Link.Heal()
	})
}
