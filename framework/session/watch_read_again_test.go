package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// loseEvent has an event of a directory lost: since 3.8.4 servers send none of a node that its watcher may not read.
func (w *env) loseEvent(dir string, happens func()) {
	w.Helper()
	for _, permissions := range []int32{zk.PermAll &^ zk.PermRead, zk.PermAll} {
		if _, err := w.Client.SetACL(w.Context(), dir, zk.WorldACL(permissions), -1); err != nil {
			w.Fatal(err)
		}
		if permissions != zk.PermAll {
			happens()
			synctest.Wait()
		}
	}
}

func TestWatchThatIsReadAgainSeesWhatAnEventDidNotSay(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		o := w.watchChildren("/a")
		w.loseEvent("/a", func() { w.Make("/a/b") })
		time.Sleep(time.Hour)
		if got := o.view().Children; len(got) != 0 || o.wakes != 1 {
			t.Fatalf("got children %q after %d wakes, want a lost event", got, o.wakes)
		}
		o.session.ReadAgain(o.Watch)
		synctest.Wait()
		if got := o.view().Children; len(got) != 1 || o.wakes != 2 {
			t.Errorf("got children %q after %d wakes, want one and 2", got, o.wakes)
		}
		w.Make("/a/c") // the watch is set
		synctest.Wait()
		if got := o.view().Children; len(got) != 2 || o.wakes != 3 {
			t.Errorf("got children %q after %d wakes, want two and 3", got, o.wakes)
		}
		o.stop()
		w.wantWatches(0)
	})
}

// Until the answer the view holds, unless an event comes.
func TestViewWhileItsNodeIsReadAgain(t *testing.T) {
	for name, changed := range map[string]bool{"nothing else happens": false, "an event comes": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				began := time.Now()
				o := w.watchChildren("/a")
				time.Sleep(time.Second)
				execute := w.Server.Hold(zktest.Match{Op: zktest.OpGetChildren2})
				asked := time.Now()
				o.session.ReadAgain(o.Watch)
				if changed {
					w.Make("/a/b")
				}
				time.Sleep(time.Second)
				v := o.view()
				if v.Status != framework.StatusPresent || v.Armed == changed || !v.Read.Equal(began) || v.Again.IsZero() != changed {
					t.Errorf("got %+v, want what was read at %v, armed %v", v, began, !changed)
				}
				execute()
				synctest.Wait()
				if v := o.view(); !v.Armed || !v.Read.Equal(asked) || !v.Again.IsZero() || (len(v.Children) == 1) != changed {
					t.Errorf("got %+v, want what was read at %v, armed", v, asked)
				}
			})
		})
	}
}

func TestNothingIsReadAgainThatIsBeingReadOrCannotBe(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		deferred := s.WatchDataDeferred("/a", func() {})
		s.ReadAgain(deferred)
		o := w.watchChildren("/a")
		for range 3 {
			s.ReadAgain(o.Watch)
		}
		synctest.Wait()
		if data, children := w.Count(zktest.OpGetData), w.Count(zktest.OpGetChildren2); data != 0 || children != 2 {
			t.Errorf("got %d reads of data and %d listings, want 0 and 2", data, children)
		}
		s.Unwatch(deferred)
		o.stop()
		s.ReadAgain(o.Watch)
		w.wantWatches(0)
	})
}

// Without a connection nothing is asked: an answer that cannot come would keep ReadAgain from asking later.
func TestRefusedWatchIsReadAgainAfterAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		if _, err := w.Client.SetACL(t.Context(), "/a", zk.WorldACL(zk.PermAll&^zk.PermRead), -1); err != nil {
			t.Fatal(err)
		}
		o := w.watchChildren("/a")
		o.want(t, framework.StatusRefused)
		w.Link.Cut()
		synctest.Wait()
		o.session.ReadAgain(o.Watch)
		w.Link.Heal()
		w.Eventually("connected", o.session.Connected)
		if _, err := w.Client.SetACL(t.Context(), "/a", zk.WorldACL(zk.PermAll), -1); err != nil {
			t.Fatal(err)
		}
		o.session.ReadAgain(o.Watch)
		o.want(t, framework.StatusPresent)
	})
}
