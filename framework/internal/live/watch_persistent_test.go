package live_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// watchChildrenPersistent watches like a recipe: each wake is followed by a View.
func (w *env) watchChildrenPersistent(path string) *watching {
	o := &watching{session: w.Session()}
	o.Watch = o.session.WatchChildrenPersistent(path, func() { o.wakes++ })
	synctest.Wait()
	return o
}

// settled returns the view when nothing more comes: each wake may need a View that sets the next watch.
func (o *watching) settled() framework.View {
	synctest.Wait() // for the reader, which counts wakes
	for before := -1; before != o.wakes; synctest.Wait() {
		before = o.wakes
		_ = o.view()
	}
	return o.view()
}

func TestAPersistentWatchOnChildrenSeesTheNodeThatIsCreatedAgain(t *testing.T) {
	for name, away := range map[string]bool{"connected": false, "while away": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				o := w.watchChildrenPersistent("/a")
				for range 3 {
					if got := o.settled(); got.Status != framework.StatusGone {
						t.Errorf("before the creation: got %+v, want status %d", got, framework.StatusGone)
					}
					if away {
						w.Link.Cut()
						w.Eventually("suspended", func() bool { return w.Client.State() == framework.StateSuspended })
					}
					w.Make("/a")
					w.Make("/a/b")
					if away {
						w.Link.Heal()
						w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
					}
					time.Sleep(time.Second)
					if got := o.settled(); got.Status != framework.StatusPresent || len(got.Children) != 1 || !got.Current {
						t.Errorf("after the creation: got %+v, want one child and an armed watch", got)
					}
					w.wantWatches(1)
					for _, path := range []string{"/a/b", "/a"} {
						must(t, w.Server.Delete(path))
					}
					synctest.Wait()
				}
				o.stop()
				_ = o.view() // sets nothing
				w.wantWatches(0)
			})
		})
	}
}

// The others would be woken for nothing: their users wait for what others do.
func TestALostConnectionWakesPersistentWatchesAlone(t *testing.T) {
	type subscribe func(path string, wake func()) session.Watch
	for name, c := range map[string]struct {
		watch func(s framework.Session) subscribe
		want  int
	}{
		"data":                {func(s framework.Session) subscribe { return s.WatchData }, 0},
		"deferred data":       {func(s framework.Session) subscribe { return s.WatchDataDeferred }, 0},
		"persistent data":     {func(s framework.Session) subscribe { return s.WatchDataPersistent }, 1},
		"children":            {func(s framework.Session) subscribe { return s.WatchChildren }, 0},
		"deferred children":   {func(s framework.Session) subscribe { return s.WatchChildrenDeferred }, 0},
		"persistent children": {func(s framework.Session) subscribe { return s.WatchChildrenPersistent }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				o := &watching{session: w.Session()}
				o.Watch = c.watch(o.session)("/a", func() { o.wakes++ })
				defer o.stop()
				time.Sleep(time.Second) // until deferred watches are set
				o.want(t, framework.StatusPresent)
				read := o.wakes
				w.Link.Cut()
				w.Eventually("suspended", func() bool { return w.Client.State() == framework.StateSuspended })
				if o.want(t, framework.StatusUnknown); o.wakes-read != c.want {
					t.Errorf("got %d wakes by the lost connection, want %d", o.wakes-read, c.want)
				}
				w.Link.Heal()
				w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
				if o.want(t, framework.StatusPresent); o.wakes-read != c.want+1 {
					t.Errorf("got %d wakes by the loss and the answer after it, want %d", o.wakes-read, c.want+1)
				}
			})
		})
	}
}

// The children of a node that is created again are watched by another subscription.
func TestALostConnectionWakesAPersistentWatchOnChildrenAlsoAfterTheNodeWasCreatedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		o := w.watchChildrenPersistent("/a")
		defer o.stop()
		o.settled()
		w.Make("/a")
		if got := o.settled(); got.Status != framework.StatusPresent {
			t.Fatalf("got %+v, want status %d", got, framework.StatusPresent)
		}
		before := o.wakes
		w.Link.Reset()
		synctest.Wait()
		if got := o.view(); got.Status != framework.StatusUnknown || o.wakes != before+1 {
			t.Errorf("got %+v and %d wakes, want status %d and one", got, o.wakes-before, framework.StatusUnknown)
		}
	})
}

// It may be created meanwhile.
func TestALostConnectionMakesAMissingNodeUnknownToPersistentWatches(t *testing.T) {
	for name, watch := range map[string]func(s framework.Session, wake func()) session.Watch{
		"data":     func(s framework.Session, wake func()) session.Watch { return s.WatchDataPersistent("/a", wake) },
		"children": func(s framework.Session, wake func()) session.Watch { return s.WatchChildrenPersistent("/a", wake) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				o := &watching{session: w.Session()}
				o.Watch = watch(o.session, func() { o.wakes++ })
				defer o.stop()
				o.settled()
				o.want(t, framework.StatusGone)
				before := o.wakes
				w.Link.Cut()
				synctest.Wait()
				if o.want(t, framework.StatusUnknown); o.wakes != before+1 {
					t.Errorf("got %d wakes by the lost connection, want one", o.wakes-before)
				}
				w.Link.Heal()
				w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
				o.settled()
				o.want(t, framework.StatusGone)
			})
		})
	}
}

func TestAPersistentWatchOnChildrenThatIsEndedWhileTheNodeIsMissingLeavesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		o := w.watchChildrenPersistent("/a")
		o.settled()
		w.wantWatches(1)
		o.stop()
		_ = o.view()
		w.wantWatches(0)
		w.Make("/a")
		w.wantWatches(0)
	})
}

// Since 3.8.4 a server sends no event of it.
func TestAPersistentWatchOnChildrenOfANodeThatIsCreatedUnreadableSaysWhy(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.NewServer(zktest.WithVersion("3.8.0")), States: &clienttest.States{}}}
		t.Cleanup(func() { w.Server.Close() })
		w.Link = w.Server.NewLink()
		w.Client = w.Dial("zk:2181")
		o := w.watchChildrenPersistent("/a")
		o.settled()
		w.Create("/a", framework.WithACL(zk.ACL{Perms: zk.PermAll &^ zk.PermRead, Scheme: "world", ID: "anyone"}))
		synctest.Wait()
		if got := o.settled(); got.Status != framework.StatusFailed {
			t.Errorf("got %+v, want status %d", got, framework.StatusFailed)
		} else {
			wantErr(t, got.Err, zk.ErrNoAuth)
		}
		o.stop()
		w.wantWatches(0)
	})
}
