package live_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
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
		time.Sleep(time.Second)
		if got := o.view().Children; len(got) != 0 || o.wakes != 1 {
			t.Fatalf("got children %q after %d wakes, want a lost event", got, o.wakes)
		}
		o.ReadAgain()
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
	for name, c := range map[string]struct{ late, changed bool }{
		"nothing else happens":                  {false, false},
		"an event comes":                        {false, true},
		"after a timeout, nothing else happens": {true, false},
		"after a timeout, an event comes":       {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				began := time.Now()
				o := w.watchChildren("/a")
				time.Sleep(time.Second)
				execute := w.Server.HoldRequest(zktest.Match{Op: zktest.OpGetChildren2})
				if c.late {
					time.Sleep(clienttest.SessionTimeout - time.Second)
					synctest.Wait()
				}
				asked := time.Now()
				if !c.late {
					o.ReadAgain()
				}
				if c.changed {
					w.Make("/a/b")
				}
				time.Sleep(time.Second)
				v := o.view()
				if v.Status != framework.StatusPresent || v.Current == c.changed || !v.Read.Equal(began) || v.Pending.IsZero() != c.changed {
					t.Errorf("got %+v, want what was read at %v, armed %v", v, began, !c.changed)
				}
				execute()
				synctest.Wait()
				if v := o.view(); !v.Current || !v.Read.Equal(asked) || !v.Pending.IsZero() || (len(v.Children) == 1) != c.changed {
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
		deferred.ReadAgain()
		o := w.watchChildren("/a")
		for range 3 {
			o.ReadAgain()
		}
		synctest.Wait()
		if data, children := w.Count(zktest.OpGetData), w.Count(zktest.OpGetChildren2); data != 0 || children != 2 {
			t.Errorf("got %d reads of data and %d listings, want 0 and 2", data, children)
		}
		deferred.Stop()
		o.stop()
		o.ReadAgain()
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
		o.want(t, framework.StatusFailed)
		w.Link.Cut()
		synctest.Wait()
		o.ReadAgain()
		w.Link.Heal()
		w.Eventually("connected", o.session.Connected)
		if _, err := w.Client.SetACL(t.Context(), "/a", zk.WorldACL(zk.PermAll), -1); err != nil {
			t.Fatal(err)
		}
		o.ReadAgain()
		o.want(t, framework.StatusPresent)
	})
}

// An event is lost, whatever it is of: the change is seen when the wait has lasted a session timeout, and a little.
func TestALostEventCostsASessionTimeout(t *testing.T) {
	for name, event := range map[string]struct {
		watch  func(s framework.Session, wake func()) session.Watch
		happen func(w *env)
		seen   func(v framework.View) bool
	}{
		"data": {
			func(s framework.Session, wake func()) session.Watch { return s.WatchData("/a", wake) },
			func(w *env) { w.change("/a") },
			func(v framework.View) bool { return len(v.Data) == 0 },
		},
		"deletion": {
			func(s framework.Session, wake func()) session.Watch { return s.WatchData("/a", wake) },
			func(w *env) { w.remove("/a") },
			func(v framework.View) bool { return v.Status == framework.StatusGone },
		},
		"creation": {
			func(s framework.Session, wake func()) session.Watch { return s.WatchDataPersistent("/b", wake) },
			func(w *env) { w.Make("/b") },
			func(v framework.View) bool { return v.Status == framework.StatusPresent },
		},
		"children": {
			func(s framework.Session, wake func()) session.Watch { return s.WatchChildren("/a", wake) },
			func(w *env) { w.Make("/a/b") },
			func(v framework.View) bool { return len(v.Children) == 1 },
		},
		"deletion of a directory": {
			func(s framework.Session, wake func()) session.Watch { return s.WatchChildren("/a", wake) },
			func(w *env) { w.remove("/a") },
			func(v framework.View) bool { return v.Status == framework.StatusGone },
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				const timeout = clienttest.SessionTimeout
				w.Make("/a")
				began := time.Now()
				s := w.Session()
				var wakes atomic.Int32
				watch := event.watch(s, func() { wakes.Add(1) })
				defer watch.Stop()
				synctest.Wait()
				w.Server.DropEvent(zktest.Match{})
				event.happen(w)
				synctest.Wait()
				if event.seen(watch.View()) {
					t.Fatal("got the news, the test needs an event that is lost")
				}
				for !event.seen(watch.View()) && time.Since(began) < time.Hour {
					wakes.Store(0)
					time.Sleep(100 * time.Millisecond)
					synctest.Wait()
				}
				if waited := time.Since(began); waited > timeout*5/4 || wakes.Load() == 0 {
					t.Errorf("got the news after %v and %d wakes, want it within %v and a wake", waited, wakes.Load(), timeout*5/4)
				}
			})
		})
	}
}

// A watch costs one read for each doubling of its wait, with those of the nodes that are due together in one segment.
func TestAWatchIsReadOnceForEachDoublingOfItsWait(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		o := w.watchData("/a")
		defer o.stop()
		time.Sleep(200 * clienttest.SessionTimeout) // after 1, 2, 4, 8, 16, 32, 64, 128 and 192
		if got := w.Count(zktest.OpGetData); got != 1+9 {
			t.Errorf("got %d reads, want 10", got)
		}
	})
}

// A newcomer waits for a session timeout, however long others have waited for the same node.
func TestANewcomerOfAnOldWatchDoesNotWaitAsLong(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		old := w.watchData("/a")
		defer old.stop()
		time.Sleep(70 * clienttest.SessionTimeout)
		w.Server.DropEvent(zktest.Match{})
		w.remove("/a")
		began := time.Now()
		o := w.watchData("/a")
		defer o.stop()
		w.Eventually("news", func() bool { return o.view().Status == framework.StatusGone })
		if waited := time.Since(began); waited > clienttest.SessionTimeout*5/4 {
			t.Errorf("waited for %v, want at most %v", waited, clienttest.SessionTimeout*5/4)
		}
	})
}

// The watches are looked at just when a newcomer's is not set yet: it is read again all the same.
func TestAWatchThatIsSetAfterTheLookIsReadAgain(t *testing.T) {
	const timeout = clienttest.SessionTimeout
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Make("/b")
		s := w.Session()
		first := s.WatchData("/a", func() {}) // due first: the clock looks at the watches for its sake
		time.Sleep(timeout - 20*time.Millisecond)
		first.Stop()
		began := time.Now()
		watch := s.WatchDataDeferred("/b", func() {})
		defer watch.Stop()
		time.Sleep(time.Second)
		w.Server.DropEvent(zktest.Match{})
		w.remove("/b")
		w.Eventually("news", func() bool { return watch.View().Status == framework.StatusGone })
		if waited := time.Since(began); waited > 2*timeout {
			t.Errorf("got the news after %v, want it within %v", waited, 2*timeout)
		}
	})
}

// A node is deleted and created again while it is read again. For its watchers it is gone, as it would be without that
// read.
func TestADeletionWhileANodeIsReadAgainIsSeen(t *testing.T) {
	for name, again := range map[string]bool{"read again": true, "not read again": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				o := w.watchData("/a")
				defer o.stop()
				execute := w.Server.HoldRequest(zktest.Match{Op: zktest.OpGetData})
				if again {
					o.ReadAgain()
				}
				synctest.Wait()
				w.remove("/a")
				w.Make("/a")
				synctest.Wait()
				execute()
				o.want(t, framework.StatusGone)
			})
		})
	}
}

// An overloaded server refuses the read: what the view said holds, and the read comes later.
func TestAReadAgainThatIsRefusedForAMomentLeavesTheView(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		o := w.watchChildren("/a")
		defer o.stop()
		for i := range 4 { // the first pause may be none
			w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpGetChildren2, Nth: i + 1})
		}
		w.loseEvent("/a", func() { w.Make("/a/b") })
		o.ReadAgain()
		synctest.Wait()
		if n := len(o.view().Children); n != 0 {
			t.Fatalf("got %d children, the test needs a read that is refused", n)
		}
		if v := o.view(); v.Status != framework.StatusPresent || !v.Current {
			t.Errorf("got %+v, want the view of before", v)
		}
		w.Eventually("read", func() bool { return len(o.view().Children) == 1 })
	})
}
