package live_test

import (
	"slices"
	"strings"
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

// Each watch is spent, as by another client's deletion, and wakes its subscriber once.
func TestWatchesOfTheSessionSeeItsRemoveAtOnce(t *testing.T) {
	for name, watch := range map[string]func(session.Session, string, func()) session.Watch{
		"data": session.Session.WatchData, "deferred data": session.Session.WatchDataDeferred,
		"persistent data": session.Session.WatchDataPersistent, "children": session.Session.WatchChildren,
		"persistent children": session.Session.WatchChildrenPersistent,
	} {
		for lost, lose := range map[string]func(s *zktest.Server){
			"": func(*zktest.Server) {}, ", answer lost": func(s *zktest.Server) { s.DropReply(zktest.Match{Op: zktest.OpDelete}) },
		} {
			t.Run(name+lost, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *env) {
					w.Link.SetLatency(time.Millisecond)
					s := w.Session()
					wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
					seen := []framework.Status{framework.StatusUnknown}
					var mu sync.Mutex
					var o session.Watch
					mu.Lock()
					o = watch(s, "/a", func() {
						mu.Lock()
						defer mu.Unlock()
						// A lost connection makes the view of persistent watches unknown, which is no news of the node.
						if status := o.View().Status; status != framework.StatusUnknown && seen[len(seen)-1] != status {
							seen = append(seen, status)
						}
					})
					mu.Unlock()
					time.Sleep(time.Second)
					lose(w.Server)
					<-s.RemoveAt("/a").Done()
					time.Sleep(time.Second)
					mu.Lock()
					seen = slices.Clone(seen)
					mu.Unlock()
					want := []framework.Status{framework.StatusUnknown, framework.StatusPresent, framework.StatusGone}
					if view := o.View(); !slices.Equal(seen, want) || view.Status != framework.StatusGone {
						t.Errorf("got the statuses %v, and then %+v; want %v", seen, view, want)
					}
					wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
					time.Sleep(time.Second)
					if view := o.View(); (view.Status == framework.StatusPresent) != strings.HasPrefix(name, "persistent") {
						t.Errorf("created again: got %+v, want it present for persistent watches alone", view)
					}
					o.Stop()
					time.Sleep(time.Second)
					w.wantWatches(0)
				})
			})
		}
	}
}

// A subscriber that comes while the removal is under way hears of it, too.
func TestAWatchThatBeginsDuringARemoveAtSeesTheNodeGone(t *testing.T) {
	for name, held := range map[string]zktest.Op{"the look": zktest.OpExists, "the delete": zktest.OpDelete} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				s := w.Session()
				wantErr(t, s.CreateAt(t.Context(), "/a", nil, nil))
				release := w.Server.HoldRequest(zktest.Match{Op: held})
				r := s.RemoveAt("/a")
				synctest.Wait()
				o, persistent := w.watchData("/a"), &watching{}
				persistent.Watch = s.WatchDataPersistent("/a", func() {})
				release()
				<-r.Done()
				o.want(t, framework.StatusGone)
				persistent.want(t, framework.StatusGone)
				w.Make("/a")
				o.want(t, framework.StatusGone)
				persistent.want(t, framework.StatusPresent)
				o.stop()
				persistent.stop()
				w.wantWatches(0)
			})
		})
	}
}

// Observers hear the same as of Remove, and nothing of a node that has become another's.
func TestAnObserverHearsOfRemoveAtAsOfRemove(t *testing.T) {
	removed := func(s framework.Session) session.Removal { return s.Remove("/dir/a") }
	removedAt := func(s framework.Session) session.Removal { return s.RemoveAt("/dir/a") }
	for name, prepare := range map[string]func(w *env){
		"there":      func(*env) {},
		"watched":    func(w *env) { w.watchData("/dir/a") },
		"missing":    func(w *env) { wantErr(w, w.Server.Delete("/dir/a")) },
		"lost":       func(w *env) { w.Server.DropReply(zktest.Match{Op: zktest.OpDelete}) },
		"lost first": func(w *env) { w.Server.DropRequest(zktest.Match{Op: zktest.OpDelete}) },
	} {
		t.Run(name, func(t *testing.T) {
			var heard [2][]string
			for i, remove := range []func(framework.Session) session.Removal{removed, removedAt} {
				bubble(t, func(t *testing.T, w *env) {
					s := w.Session()
					wantErr(t, s.CreateAt(t.Context(), "/dir/a", nil, nil))
					prepare(w)
					var n notebook
					s.ObserveChildren("/dir", &n)
					<-remove(s).Done()
					synctest.Wait()
					heard[i] = n.notes
				})
			}
			if len(heard[0]) == 0 || len(heard[0]) != len(heard[1]) || heard[0][0] != heard[1][0] {
				t.Errorf("got %q of RemoveAt, want %q as of Remove", heard[1], heard[0])
			}
		})
	}
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		w.Make("/dir/a")
		var n notebook
		w.Session().ObserveChildren("/dir", &n)
		<-w.Session().RemoveAt("/dir/a").Done()
		n.want(t)
	})
}

// The removal is refused. The looks for late nodes find the node, which is no news, and ask for nothing.
func TestALookThatFindsTheNodeOfARefusedRemoveAtReportsNothing(t *testing.T) {
	var traced []string
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/dir")
		s := w.Session()
		goOn := createAtLate(t, w, "/dir/a")
		w.protect("/dir", zk.PermAll&^zk.PermDelete)
		<-s.RemoveAt("/dir/a").Done()
		time.Sleep(5 * clienttest.SessionTimeout)
		asked := w.Count(zktest.OpDelete)
		if len(traced) > 0 || asked > 11 {
			t.Errorf("got %q traced, %d deletes; want none, and those that are due", traced, asked)
		}
		w.protect("/dir", zk.PermAll)
		w.Eventually("removed", func() bool { return !w.Server.Exists("/dir/a") })
		goOn()
	}, framework.WithTrace(framework.Trace{OrphanFound: func(path string) { traced = append(traced, path) }}))
}
