package live_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// watching is a watch that counts its wakes.
type watching struct {
	session.Watch
	session framework.Session
	wakes   int
}

func (w *env) watchData(path string) *watching {
	o := &watching{session: w.Session()}
	o.Watch = o.session.WatchData(path, func() { o.wakes++ })
	synctest.Wait()
	return o
}

func (w *env) watchChildren(path string) *watching {
	o := &watching{session: w.Session()}
	o.Watch = o.session.WatchChildren(path, func() { o.wakes++ })
	synctest.Wait()
	return o
}

func (o *watching) view() framework.View { return o.View() }
func (o *watching) stop()                { o.Stop(); synctest.Wait() }

func (o *watching) want(t *testing.T, status framework.Status) {
	t.Helper()
	synctest.Wait()
	if got := o.view(); got.Status != status {
		t.Errorf("status %d, want %d (%v)", got.Status, status, got.Err)
	}
}

func (w *env) wantWatches(want int) {
	w.Helper()
	synctest.Wait()
	if got := w.Server.WatchCount(); got != want {
		w.Errorf("the server has %d watches, want %d", got, want)
	}
}

func TestAViewSaysWhetherTheNodeIsTheSessionsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		entry, err := w.Session().CreateProtected(w.Context(), "/dir", "n-", nil)
		must(t, err)
		other := w.Dial("zk:2181")
		if _, _, err := other.Create(w.Context(), "/others", nil, framework.WithMode(framework.Ephemeral)); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]bool{entry.Path: true, "/others": false, "/dir": false, "/missing": false} {
			if got := w.watchData(path).view(); got.Own != want {
				t.Errorf("%s: got %+v, want Own %t", path, got, want)
			}
		}
	})
}

func TestManyWatchesOfANodeAreOneAtTheServer(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		var data, children []*watching
		for range 20 {
			data = append(data, w.watchData("/a"))
			children = append(children, w.watchChildren("/a"))
		}
		w.wantWatches(2)
		if n := w.Count(zktest.OpGetData) + w.Count(zktest.OpGetChildren2); n != 2 {
			t.Errorf("%d requests", n)
		}
		must(t, w.Server.SetData("/a", []byte("2")))
		synctest.Wait()
		for _, o := range data {
			if got := string(o.view().Data); got != "2" {
				t.Errorf("data %q", got)
			}
		}
		w.Make("/a/b")
		synctest.Wait()
		for _, o := range children {
			if got := o.view().Children; len(got) != 1 || got[0] != "b" {
				t.Errorf("children %q", got)
			}
		}
		for _, o := range append(data[1:], children[1:]...) {
			o.stop()
		}
		w.wantWatches(2)
		data[0].stop()
		w.wantWatches(1)
		children[0].stop()
		children[0].stop()
		w.wantWatches(0)
	})
}

func TestAWatchThatIsTakenOffAndSetAgainAtOnceFires(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		for range 10 {
			old := w.watchData("/a")
			old.Stop()
			o := w.watchData("/a")
			w.wantWatches(1)
			must(t, w.Server.SetData("/a", nil))
			synctest.Wait()
			if o.wakes != 2 {
				t.Fatalf("woken %d times, want for the first look and for the change", o.wakes)
			}
			o.stop()
		}
		w.wantWatches(0)
	})
}

// One goroutine takes the last watch off a node while another sets one on it. Whichever comes first, the server has a
// watch in the end: were the request that takes it off queued after the table had changed, it could leave last.
func TestAWatchThatAnotherTakesOffAtTheSameTimeStaysSet(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		const nodes = 32 // many at a time, so that the goroutines get in each other's way
		s := w.Session()
		nothing := func() {}
		paths, watches := make([]string, nodes), make([]session.Watch, nodes)
		for i := range nodes {
			paths[i] = fmt.Sprintf("/%d", i)
			w.Make(paths[i])
			watches[i] = s.WatchData(paths[i], nothing)
		}
		for range 200 {
			synctest.Wait()
			var all sync.WaitGroup
			begin := make(chan struct{})
			for i, old := range watches {
				all.Go(func() { <-begin; old.Stop() })
				all.Go(func() { <-begin; watches[i] = s.WatchData(paths[i], nothing) })
			}
			close(begin)
			all.Wait()
			if w.wantWatches(nodes); t.Failed() {
				return
			}
		}
		for i, watch := range watches {
			if !watch.View().Current {
				t.Errorf("the watch on %s is not armed", paths[i])
			}
			watch.Stop()
		}
	})
}

func TestAChangeWhileAwayIsSeen(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for _, path := range []string{"/changed", "/deleted", "/parent", "/same"} {
			w.Make(path)
		}
		changed, deleted, same := w.watchData("/changed"), w.watchData("/deleted"), w.watchData("/same")
		parent := w.watchChildren("/parent")
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return w.Client.State() == framework.StateSuspended })
		same.want(t, framework.StatusUnknown)
		must(t, w.Server.SetData("/changed", []byte("2")))
		must(t, w.Server.Delete("/deleted"))
		w.Make("/parent/child")
		w.Link.Heal()
		w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
		deleted.want(t, framework.StatusGone)
		same.want(t, framework.StatusPresent)
		if got := string(changed.view().Data); got != "2" {
			t.Errorf("data %q", got)
		}
		if got := parent.view().Children; len(got) != 1 {
			t.Errorf("children %q", got)
		}
		for _, o := range []*watching{changed, deleted, parent, same} {
			if o.wakes != 2 {
				t.Errorf("%d wakes", o.wakes)
			}
		}
		w.wantWatches(3)
		must(t, w.Server.SetData("/same", nil))
		synctest.Wait()
		if same.wakes != 3 {
			t.Errorf("got %d wakes of a watch that was set again, want 3", same.wakes)
		}
	})
}

func TestANodeThatIsGoneStaysGone(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		data, children, absent := w.watchData("/a"), w.watchChildren("/a"), w.watchData("/absent")
		absent.want(t, framework.StatusGone)
		must(t, w.Server.Delete("/a"))
		w.Make("/absent")
		data.want(t, framework.StatusGone)
		children.want(t, framework.StatusGone)
		w.Make("/a")
		w.Link.Reset()
		w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
		for _, o := range []*watching{data, children, absent} {
			o.want(t, framework.StatusGone)
			o.stop()
		}
		w.wantWatches(0)
	})
}

func TestANewcomerSeesTheNodeThatWasMadeAnew(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		old := w.watchChildren("/a")
		must(t, w.Server.Delete("/a"))
		synctest.Wait()
		w.Make("/a")
		newcomer := w.watchChildren("/a")
		newcomer.want(t, framework.StatusPresent)
		old.want(t, framework.StatusGone)
		old.stop()
		w.wantWatches(1)
		newcomer.stop()
		w.wantWatches(0)
	})
}

func TestALastingWatchSeesTheNodeMadeAnew(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		wakes := 0
		lasting := s.WatchDataPersistent("/a", func() { wakes++ })
		plain := w.watchData("/a")
		for range 3 {
			must(t, w.Server.Delete("/a"))
			synctest.Wait()
			if got := lasting.View().Status; got != framework.StatusGone {
				t.Errorf("status %d after the deletion", got)
			}
			w.Make("/a")
			synctest.Wait()
			if got := lasting.View(); got.Status != framework.StatusPresent || string(got.Data) != "1" {
				t.Errorf("after the creation %+v", got)
			}
			plain.want(t, framework.StatusGone)
		}
		lasting.Stop()
		plain.stop()
		w.wantWatches(0)
	})
}

// Get finds no node; the node is made; exists, which is asked because of the lasting watch, finds it.
func TestAWatchBesideALastingOneDoesNotSeeTheNodeMadeAnew(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		get := w.Server.HoldRequest(zktest.Match{Op: zktest.OpGetData})
		exists := w.Server.HoldRequest(zktest.Match{Op: zktest.OpExists})
		plain := w.watchData("/a")
		lasting := w.Session().WatchDataPersistent("/a", func() {})
		get()
		synctest.Wait()
		w.Make("/a")
		exists()
		synctest.Wait()
		if got := lasting.View().Status; got != framework.StatusPresent {
			t.Errorf("lasting watch: got status %d, want %d", got, framework.StatusPresent)
		}
		plain.want(t, framework.StatusGone)
	})
}

func TestANodeDeletedWhileItsWatchIsBeingSetIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: "/a"})
		o := w.watchData("/a")
		o.want(t, framework.StatusUnknown)
		must(t, w.Server.Delete("/a"))
		release()
		o.want(t, framework.StatusGone)
		if o.wakes != 1 {
			t.Errorf("%d wakes", o.wakes)
		}
		o.stop()
		w.wantWatches(0)
	})
}

// When a watch of the other kind is begun, the deletion of the old node is on its way, and the new one is there. The
// request finds the new node, although the news of the deletion comes before the answer.
func TestAWatchOnANodeMadeAnewDoesNotHearOfTheDeletionBefore(t *testing.T) {
	for _, name := range []string{"data", "children"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				begin, other := w.watchData, w.watchChildren
				if name == "children" {
					begin, other = other, begin
				}
				w.Make("/a")
				old := other("/a")
				w.Link.SetLatency(100 * time.Millisecond)
				w.remove("/a")
				w.Make("/a")
				newcomer := begin("/a")
				time.Sleep(time.Second)
				old.want(t, framework.StatusGone)
				newcomer.want(t, framework.StatusPresent)
				if view := newcomer.view(); !view.Current || newcomer.wakes != 1 {
					t.Errorf("got %d wakes, and %+v; want 1, and a node that is watched", newcomer.wakes, view)
				}
				newcomer.stop()
				old.stop()
				time.Sleep(time.Second)
				w.wantWatches(0)
			})
		})
	}
}

func TestAWatchThatIsEndedWhileItIsBeingSetLeavesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpGetData})
		o := w.watchData("/a")
		o.stop()
		release()
		w.wantWatches(0)
		if o.wakes != 0 {
			t.Errorf("got %d wakes of an ended watch, want none", o.wakes)
		}
	})
}

// The watch has seen its node gone, and asks whether there is a new one. It is created before that request is executed.
func TestALastingWatchThatIsEndedWhileItAsksForANewNodeLeavesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		lasting := s.WatchDataPersistent("/a", func() {})
		synctest.Wait()
		release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpGetData})
		must(t, w.Server.Delete("/a"))
		synctest.Wait()
		if got := lasting.View().Status; got != framework.StatusGone {
			t.Errorf("got status %d after the deletion, want %d", got, framework.StatusGone)
		}
		w.Make("/a")
		lasting.Stop()
		release()
		w.wantWatches(0)
	})
}

func TestANodeThatMayNotBeReadIsWatchedForItsExistence(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.NewServer(zktest.WithVersion("3.8.0")), States: &clienttest.States{}}}
		t.Cleanup(func() { w.Server.Close() })
		w.Link = w.Server.NewLink()
		w.Client = w.Dial("zk:2181")
		w.Create("/a", framework.WithACL(zk.ACL{Perms: zk.PermAll &^ zk.PermRead, Scheme: "world", ID: "anyone"}))
		o := w.watchData("/a")
		o.want(t, framework.StatusPresent)
		if o.view().Data != nil {
			t.Errorf("got data %q of a node that may not be read, want none", o.view().Data)
		}
		w.Link.Reset()
		time.Sleep(time.Second)
		o.want(t, framework.StatusPresent)
		must(t, w.Server.Delete("/a"))
		o.want(t, framework.StatusGone)
		w.Make("/a")
		o.want(t, framework.StatusGone)
		o.stop()
		w.wantWatches(0)
	})
}

func TestAWatchThatIsRefusedSaysWhy(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/a", framework.WithACL(zk.ACL{Perms: zk.PermAll &^ zk.PermRead, Scheme: "world", ID: "anyone"}))
		o := w.watchChildren("/a")
		o.want(t, framework.StatusFailed)
		wantErr(t, o.view().Err, zk.ErrNoAuth)
		o.stop()
		w.wantWatches(0)
	})
}

func TestWatchesWhileDisconnectedAreSetLater(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return w.Client.State() == framework.StateSuspended })
		wakes := 0
		o := s.WatchData("/a", func() { wakes++ })
		dropped := s.WatchData("/dropped", func() { t.Error("an ended watch was woken") })
		dropped.Stop()
		w.Link.Heal()
		w.Eventually("reconnected", func() bool { return w.Client.State() == framework.StateReconnected })
		if o.View().Status != framework.StatusPresent || wakes != 1 {
			t.Errorf("%+v after %d wakes", o.View(), wakes)
		}
		w.wantWatches(1)
		o.Stop()
		w.wantWatches(0)
	})
}
