package framework_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// A notebook writes down what it is told.
type notebook struct{ notes []string }

func (n *notebook) Listed(children []string, _ *zk.Stat) {
	n.notes = append(n.notes, "listed "+strings.Join(children, ","))
}

func (n *notebook) Entered(name string) { n.notes = append(n.notes, "entered "+name) }

func (n *notebook) Gone(name string) { n.notes = append(n.notes, "gone "+name) }

func (n *notebook) want(t *testing.T, notes ...string) {
	t.Helper()
	synctest.Wait()
	if !slices.Equal(n.notes, notes) {
		t.Errorf("it was told %q, want %q", n.notes, notes)
	}
	n.notes = nil
}

func TestAFollowerIsToldWhatTheSessionHears(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.make("/a")
		w.make("/a/1")
		w.make("/a/2")
		s := w.session()
		var n notebook
		s.Follow("/a", &n)
		if _, err := s.Children(t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		n.want(t, "listed 1,2")
		defer w.watchData("/a/1").stop()
		if err := w.srv.Delete("/a/1"); err != nil {
			t.Fatal(err)
		}
		n.want(t, "gone 1")
		w.watchData("/a/0").stop()
		n.want(t, "gone 0")
		s.Remove("/a/2")
		n.want(t, "gone 2")
		entry, err := s.EnterUnlisted(t.Context(), "/a", "lock-", nil)
		if err != nil || entry.Children != nil {
			t.Fatalf("%+v, %v", entry, err)
		}
		n.want(t, "entered "+strings.TrimPrefix(entry.Path, "/a/"))
		w.watchChildren("/a").stop()
		n.want(t, "listed "+strings.TrimPrefix(entry.Path, "/a/"))
		s.Unfollow("/a", &n)
		s.Remove(entry.Path)
		n.want(t)
	})
}

func TestALostAnswerToAnUnlistedEntryIsListed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.make("/a")
		var n notebook
		w.session().Follow("/a", &n)
		w.srv.DropReply(zktest.Match{Op: zktest.OpCreate2})
		entry, err := w.session().EnterUnlisted(t.Context(), "/a", "lock-", nil)
		if err != nil || len(entry.Children) != 1 {
			t.Errorf("%+v, %v", entry, err)
		}
	})
}

func TestWhoWatchesANodeThatIsLeavingAsksForNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		path := w.create("/a/1", framework.WithMode(framework.EphemeralSequential), framework.CreatingParentsIfNeeded())
		resume := w.srv.Hold(zktest.Match{Op: zktest.OpDelete})
		s := w.session()
		s.Remove(path)
		o := w.watchData(path)
		o.want(t, framework.StatusUnknown)
		resume()
		o.want(t, framework.StatusGone)
		if n := w.count(zktest.OpGetData); n != 0 || o.wakes != 1 {
			t.Errorf("%d requests, %d wakes", n, o.wakes)
		}
		o.stop()
		w.wantWatches(0)
	})
}

// It may not be removed: then it is watched like any other.
func TestWhoWatchesANodeThatCouldNotBeRemovedAsksForIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.make("/a")
		w.make("/a/1")
		resume := w.srv.Hold(zktest.Match{Op: zktest.OpDelete})
		w.session().Remove("/a") // it has a child
		o := w.watchData("/a")
		resume()
		o.want(t, framework.StatusPresent)
		o.stop()
		w.wantWatches(0)
	})
}
