package live_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
)

func TestCreateAtMakesTheNodeAndItsParents(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/services/web/1", []byte("me"), nil))
		data, stat, err := s.Get(t.Context(), "/services/web/1")
		if err != nil || string(data) != "me" || stat.EphemeralOwner != s.ID() {
			t.Errorf("got %q, %+v, %v; want a node of this session with %q", data, stat, err, "me")
		}
	})
}

func TestCreateAtCountsANodeOfTheSessionAsCreatedWhateverIsLost(t *testing.T) {
	for name, fault := range map[string]func(w *env){
		"the create": func(w *env) { w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate2}) },
		"its answer": func(w *env) { w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2}) },
		"the answer, the look": func(w *env) {
			w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
			w.Server.DropReply(zktest.Match{Op: zktest.OpExists})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				fault(w)
				wantErr(t, w.Session().CreateAt(t.Context(), "/a", nil, nil))
			})
		})
	}
}

func TestCreateAtLeavesTheNodeOfAnotherSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil), zk.ErrNodeExists)
		r := s.RemoveAt("/a")
		<-r.Done()
		wantErr(t, r.Err())
		if !w.Server.Exists("/a") {
			t.Error("got no node, want the other's")
		}
	})
}

// The answer to the removal is lost, and a successor takes the path at once.
func TestRemoveAtLeavesTheNodeOfASuccessorThatCameBeforeItsAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
		w.Server.DropReply(zktest.Match{Op: zktest.OpDelete})
		r := s.RemoveAt("/a")
		for w.Server.Exists("/a") {
			time.Sleep(time.Microsecond)
		}
		w.Make("/a")
		<-r.Done()
		synctest.Wait()
		if !w.Server.Exists("/a") {
			t.Error("got no node, want the successor's")
		}
	})
}

func TestACreateAtThatIsExecutedAfterItsCallerLeftLeavesNoNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		proceed := w.Server.HoldRequest(zktest.Match{Op: zktest.OpCreate2})
		wantErr(t, s.CreateAt(w.Within(time.Second), "/a", nil, nil), context.DeadlineExceeded)
		proceed()
		time.Sleep(5 * s.Timeout())
		if w.Server.Exists("/a") || s.Err() != nil {
			t.Errorf("got a node, session error %v; want neither", s.Err())
		}
	})
}
