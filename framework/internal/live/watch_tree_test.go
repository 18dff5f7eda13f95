package live_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// listener is a TreeObserver that remembers.
type listener struct {
	mu    sync.Mutex
	heard []string
	err   error
}

func (l *listener) hear(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, what)
}

func (l *listener) words() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard)
}

func (l *listener) Watching()         { l.hear("watching") }
func (l *listener) Lost()             { l.hear("lost") }
func (l *listener) Refused(err error) { l.hear("refused"); l.err = err }
func (l *listener) Changed(kind zk.EventType, path string) {
	l.hear(map[zk.EventType]string{zk.EventNodeCreated: "+", zk.EventNodeDeleted: "-", zk.EventNodeDataChanged: "="}[kind] + path)
}

// want checks what was heard since the last time.
func (l *listener) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.heard, want) {
		t.Errorf("heard %q, want %q", l.heard, want)
	}
	l.heard = nil
}

func (w *env) watchTree(path string) *listener {
	w.Helper()
	l := &listener{}
	if err := w.Session().WatchTree(path, l); err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
	return l
}

func (w *env) change(path string) {
	w.Helper()
	if err := w.Server.SetData(path, nil); err != nil {
		w.Fatal(err)
	}
}

func (w *env) remove(path string) {
	w.Helper()
	if err := w.Server.Delete(path); err != nil {
		w.Fatal(err)
	}
}

// atEach runs f at servers of the releases between which watches differ.
func atEach(t *testing.T, f func(t *testing.T, w *env)) {
	for _, version := range []string{"3.6", "3.8.6", "3.9.5"} {
		t.Run(version, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := &env{&clienttest.Env{T: t, Server: zktest.New(t, zktest.WithVersion(version)), States: &clienttest.States{}}}
				w.Link = w.Server.NewLink()
				w.Client = w.Dial("zk:2181")
				w.Connected()
				f(t, w)
				wantErr(t, w.Client.Close())
			})
		})
	}
}

func TestATreeObserverHearsOfAllNodesBelowAndOfNoOthers(t *testing.T) {
	atEach(t, func(t *testing.T, w *env) {
		l := w.watchTree("/t")
		l.want(t, "watching")
		for _, path := range []string{"/t", "/t/a", "/t/a/b", "/t2", "/other"} {
			w.Make(path)
		}
		l.want(t, "+/t", "+/t/a", "+/t/a/b")
		w.watchChildren("/t/a") // its event comes over the same connection
		w.watchData("/t/a/b")
		w.change("/t/a/b")
		w.Make("/t/a/c")
		w.remove("/t/a/c")
		w.remove("/t/a/b")
		w.change("/t2")
		w.change("/t")
		l.want(t, "=/t/a/b", "+/t/a/c", "-/t/a/c", "-/t/a/b", "=/t")
		w.remove("/t/a")
		w.remove("/t")
		w.Make("/t")
		l.want(t, "-/t/a", "-/t", "+/t")
	})
}

// Before 3.9 a path has one watch of each connection, and the removal of one may take another off.
func TestATreeAndOtherWatchesOnItsRootDoNotDisturbEachOther(t *testing.T) {
	const tree, data, children = 0, 1, 2
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, last := range []int{tree, data, children} {
			t.Run(fmt.Sprintf("set %v, %d taken off last", order, last), func(t *testing.T) {
				atEach(t, func(t *testing.T, w *env) {
					w.Make("/t")
					var l *listener
					one := make([]*watching, 3)
					set := []func(){
						func() { l = w.watchTree("/t") },
						func() { one[data] = w.watchData("/t") },
						func() { one[children] = w.watchChildren("/t") },
					}
					stop := []func(){func() { w.Session().UnwatchTree("/t", l) }, func() { one[data].stop() }, func() { one[children].stop() }}
					on := make([]bool, 3)
					n := 0
					check := func() {
						t.Helper()
						n++
						l.want(t)
						name := fmt.Sprintf("n%d", n)
						w.Make("/t/" + name)
						must(t, w.Server.SetData("/t", []byte(name)))
						if on[tree] {
							l.want(t, "+/t/"+name, "=/t")
						}
						synctest.Wait()
						if got := one[data]; on[data] && string(got.view().Data) != name {
							t.Errorf("got data %q, want %q", got.view().Data, name)
						}
						if got := one[children]; on[children] && !slices.Contains(got.view().Children, name) {
							t.Errorf("got children %q, want %q among them", got.view().Children, name)
						}
					}
					for _, which := range order {
						set[which]()
						on[which] = true
					}
					l.want(t, "watching")
					check()
					for _, which := range append(slices.DeleteFunc(slices.Clone(order), func(i int) bool { return i == last }), last) {
						stop[which]()
						synctest.Wait()
						on[which] = false
						check()
					}
					w.wantWatches(0)
				})
			})
		}
	}
}

func TestObserversOfATreeShareOneWatch(t *testing.T) {
	atEach(t, func(t *testing.T, w *env) {
		first := w.watchTree("/t")
		second := w.watchTree("/t")
		below := w.watchTree("/t/a")
		w.wantWatches(2)
		w.Make("/t")
		w.Make("/t/a")
		first.want(t, "watching", "+/t", "+/t/a")
		second.want(t, "watching", "+/t", "+/t/a")
		below.want(t, "watching", "+/t/a")
		w.Session().UnwatchTree("/t", first)
		w.Session().UnwatchTree("/t", first)
		w.change("/t/a")
		first.want(t)
		second.want(t, "=/t/a")
		w.Session().UnwatchTree("/t", second)
		w.change("/t/a")
		second.want(t)
		below.want(t, "=/t/a", "=/t/a")
		w.Session().UnwatchTree("/t/a", below)
		w.wantWatches(0)
	})
}

func TestATreeTakesTheDataWatchOfItsRootOver(t *testing.T) {
	atEach(t, func(t *testing.T, w *env) {
		w.Make("/t")
		data := w.watchData("/t")
		l := w.watchTree("/t")
		w.wantWatches(1)
		data.stop()
		w.Session().UnwatchTree("/t", l)
		w.wantWatches(0)
	})
}

// A server that is cut off from its leader hears of no change.
func TestATreeIsWatchedAtAServerThatAsksItsLeader(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		time.Sleep(10 * clienttest.SessionTimeout)
		if n := w.Count(zktest.OpSync); n != 0 {
			t.Errorf("got %d syncs before anything is watched, want none", n)
		}
		w.watchTree("/t")
		time.Sleep(10 * clienttest.SessionTimeout)
		if n := w.Count(zktest.OpSync); n < 30 {
			t.Errorf("got %d syncs in ten session timeouts, want about forty", n)
		}
	})
}

func TestATreeIsWatchedAgainAfterAReconnection(t *testing.T) {
	atEach(t, func(t *testing.T, w *env) {
		w.Make("/t")
		l := w.watchTree("/t")
		data := w.watchData("/t")
		l.want(t, "watching")
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return !w.Client.State().IsConnected() })
		l.want(t, "lost")
		w.Make("/t/missed")
		w.Link.Heal()
		w.Eventually("connected", func() bool { return w.Client.State().IsConnected() })
		l.want(t, "watching")
		w.Make("/t/heard")
		w.change("/t")
		l.want(t, "+/t/heard", "=/t")
		if got := data.view(); got.Stat == nil || got.Stat.Version != 1 {
			t.Errorf("got view %+v, want version 1", got)
		}
		w.Link.Cut()
		w.Eventually("suspended", func() bool { return !w.Client.State().IsConnected() })
		data.stop()
		data.session.UnwatchTree("/t", l)
		w.Link.Heal()
		w.Eventually("connected", func() bool { return w.Client.State().IsConnected() })
		w.wantWatches(0)
		l.want(t, "lost")
	})
}

// An overloaded server refuses for a moment. To leave the connection would have the next one set all watches.
func TestATreeIsWatchedAtAnOverloadedServerWithoutLeavingIt(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpAddWatch, zktest.OpSync} {
		t.Run(op.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				if op == zktest.OpSync { // a connection ended on the request once, so a sync goes ahead of it
					w.Server.DropRequest(zktest.Match{Op: zktest.OpAddWatch, Path: "/t"})
				}
				for i := range 3 {
					w.Server.ThrottleRequest(zktest.Match{Op: op, Path: "/*", Nth: i + 1})
				}
				b := w.Bind()
				l := w.watchTree("/t")
				w.Eventually("watching", func() bool { return len(l.words()) > 0 })
				l.want(t, "watching")
				w.Make("/t")
				l.want(t, "+/t")
				if w.States.Has(framework.StateSuspended) && op == zktest.OpAddWatch {
					t.Error("the client has left the server")
				}
				if b.Ended() {
					t.Errorf("a lease ended: %v", b.Cause)
				}
			})
		})
	}
}

// The request that sets the tree's watch is refused for a moment; the one that reads its root for a data watch is not.
func TestADataWatchIsNotArmedBeforeTheTreeThatCoversIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Session().UnwatchTree("/known", w.watchTree("/known")) // now the server is known to take trees
		w.Make("/t")
		for i := range 3 {
			w.Server.ThrottleRequest(zktest.Match{Op: zktest.OpAddWatch, Path: "/*", Nth: i + 1})
		}
		w.Bind()
		l := w.watchTree("/t")
		data := w.watchData("/t")
		for ; w.Server.WatchCount() == 0; synctest.Wait() {
			if got := data.view(); got.Status != framework.StatusPresent || got.Current {
				t.Fatalf("got status %d, armed %v, want %d and not armed: the server watches nothing", got.Status, got.Current, framework.StatusPresent)
			}
			time.Sleep(10 * time.Millisecond)
		}
		w.Eventually("armed", func() bool { return data.view().Current })
		l.want(t, "watching")
		woken := data.wakes
		w.change("/t")
		l.want(t, "=/t")
		if data.wakes == woken {
			t.Error("the data watch heard of no change")
		}
	})
}

// The connection may have a tree's watch already, on a node above or for another observer. Its events are not for an
// observer that has still to read everything: what it reads after Watching would seem older than what it has heard.
func TestATreeObserverHearsOfNoChangeBeforeWatching(t *testing.T) {
	for name, above := range map[string]string{"beside a tree above": "/t", "beside another observer": "/t/a"} {
		t.Run(name, func(t *testing.T) {
			atEach(t, func(t *testing.T, w *env) {
				w.Make("/t")
				w.Make("/t/a")
				first := w.watchTree(above)
				first.want(t, "watching")
				release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpAddWatch, Path: "/t/a"})
				second := w.watchTree("/t/a")
				w.Make("/t/a/b")
				first.want(t, "+/t/a/b")
				second.want(t)
				release()
				second.want(t, "watching")
				w.change("/t/a/b")
				first.want(t, "=/t/a/b")
				second.want(t, "=/t/a/b")
			})
		})
	}
}
