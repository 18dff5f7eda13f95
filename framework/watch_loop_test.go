package framework_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// A loop ranges over views, and remembers them as words.
type loop struct {
	mu     sync.Mutex
	heard  []string
	err    error
	ended  bool
	cancel context.CancelCauseFunc
	body   func(word string) (more bool)
}

var errEnough = errors.New("enough")

// loop starts one that ends with the test.
func (w *env) loop(views func(ctx context.Context, path string) iter.Seq2[framework.View, error], path string) *loop {
	ctx, cancel := context.WithCancelCause(w.Context())
	l := &loop{cancel: cancel}
	w.Cleanup(func() { cancel(errEnough) })
	go func() {
		for view, err := range views(ctx, path) {
			word := wordOf(view)
			l.mu.Lock()
			if l.err = err; err == nil {
				l.heard = append(l.heard, word)
			}
			body := l.body
			l.mu.Unlock()
			if err == nil && body != nil && !body(word) {
				break
			}
		}
		l.mu.Lock()
		l.ended = true
		l.mu.Unlock()
	}()
	synctest.Wait()
	return l
}

func (w *env) wantWatches(want int) {
	w.Helper()
	synctest.Wait()
	if got := w.Server.WatchCount(); got != want {
		w.Errorf("the server has %d watches, want %d", got, want)
	}
}

func wordOf(view framework.View) string {
	switch {
	case view.Status == framework.StatusGone:
		return "gone"
	case view.Status != framework.StatusPresent:
		return fmt.Sprintf("status %d", view.Status)
	case view.Data != nil:
		return "data " + string(view.Data)
	default:
		slices.Sort(view.Children)
		return "children " + strings.Join(view.Children, " ")
	}
}

func (l *loop) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.heard, want) {
		t.Errorf("got views %q, want %q (error: %v)", l.heard, want, l.err)
	}
}

// wantEnd checks that the loop has ended with such an error, nil for none.
func (l *loop) wantEnd(t *testing.T, want error) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	var failed *framework.OpError
	if !l.ended || !errors.Is(l.err, want) || want != nil && (!errors.As(l.err, &failed) || failed.Op != "watch") {
		t.Errorf("got end %v with %v, want %v", l.ended, l.err, want)
	}
}

func TestAWatchLoopFollowsData(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		l := w.loop(w.Client.Watch, "/a")
		l.want(t, "gone")
		w.Make("/a")
		l.want(t, "gone", "data 1")
		for _, data := range []string{"2", "3"} {
			must(t, w.Server.SetData("/a", []byte(data)))
			synctest.Wait()
		}
		w.Make("/a/child") // is no change of the data
		l.want(t, "gone", "data 1", "data 2", "data 3")
		must(t, errors.Join(w.Server.Delete("/a/child"), w.Server.Delete("/a")))
		l.want(t, "gone", "data 1", "data 2", "data 3", "gone")
		w.Make("/a")
		l.want(t, "gone", "data 1", "data 2", "data 3", "gone", "data 1")
		l.cancel(errEnough)
		l.wantEnd(t, errEnough)
		w.wantWatches(0)
	})
}

func TestAWatchLoopFollowsChildren(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		l := w.loop(w.Client.WatchChildren, "/a")
		l.want(t, "gone")
		w.Make("/a")
		l.want(t, "gone", "children ")
		w.Make("/a/x")
		l.want(t, "gone", "children ", "children x")
		if err := w.Server.SetData("/a", nil); err != nil { // is no change of the children
			t.Fatal(err)
		}
		w.Make("/a/y")
		l.want(t, "gone", "children ", "children x", "children x y")
		must(t, errors.Join(w.Server.Delete("/a/x"), w.Server.Delete("/a/y"), w.Server.Delete("/a")))
		synctest.Wait()
		w.Make("/a")
		synctest.Wait()
		w.Make("/a/z")
		synctest.Wait()
		l.mu.Lock()
		if got := l.heard; got[len(got)-1] != "children z" || !slices.Contains(got[1:], "gone") {
			t.Errorf("got views %q, want the node gone, and then the new one's child z", got)
		}
		l.mu.Unlock()
		l.cancel(errEnough)
		l.wantEnd(t, errEnough)
		w.wantWatches(0)
	})
}

func TestAWatchLoopThatIsSlowGetsTheNewestView(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		goOn := make(chan struct{})
		l := w.loop(func(ctx context.Context, path string) iter.Seq2[framework.View, error] {
			return func(yield func(framework.View, error) bool) {
				for view, err := range w.Client.Watch(ctx, path) {
					if !yield(view, err) {
						return
					}
					<-goOn
				}
			}
		}, "/a")
		for i := range 100 {
			must(t, w.Server.SetData("/a", fmt.Append(nil, i)))
			synctest.Wait()
		}
		// The session goes on meanwhile: a body that blocks holds up nothing of the client.
		if _, _, err := w.Client.Get(w.Within(time.Second), "/a"); err != nil {
			t.Error(err)
		}
		close(goOn)
		l.want(t, "data 1", "data 99")
	})
}

func TestAWatchLoopThatIsLeftLeavesNothingAtTheServer(t *testing.T) {
	for name, watch := range map[string]func(c *framework.Client) func(context.Context, string) iter.Seq2[framework.View, error]{
		"data": func(c *framework.Client) func(context.Context, string) iter.Seq2[framework.View, error] {
			return c.Watch
		},
		"children": func(c *framework.Client) func(context.Context, string) iter.Seq2[framework.View, error] {
			return c.WatchChildren
		},
	} {
		for _, path := range []string{"/a", "/missing"} {
			t.Run(name+" of "+path, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *env) {
					w.Make("/a")
					for range watch(w.Client)(t.Context(), path) {
						break
					}
					w.wantWatches(0)
					func() {
						defer func() { _ = recover() }()
						for range watch(w.Client)(t.Context(), path) {
							panic("in the body")
						}
					}()
					w.wantWatches(0)
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						for range watch(w.Client)(t.Context(), path) {
							runtime.Goexit()
						}
					}()
					<-ended
					w.wantWatches(0)
				})
			})
		}
	}
}

func TestAWatchLoopOutlastsDisconnectionsAndSessions(t *testing.T) {
	for name, end := range map[string]func(w *env, id int64){
		"of its session":   func(*env, int64) {},
		"into the next":    func(w *env, id int64) { w.Server.ExpireSession(id) },
		"longer than both": func(*env, int64) { time.Sleep(10 * clienttest.SessionTimeout) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/a")
				w.Make("/same")
				w.Make("/same/x")
				data, children, same, names := w.loop(w.Client.Watch, "/a"), w.loop(w.Client.WatchChildren, "/a"),
					w.loop(w.Client.Watch, "/same"), w.loop(w.Client.WatchChildren, "/same")
				id := w.Session().ID()
				w.Link.Cut()
				w.Eventually("suspended", func() bool { return w.Client.State() != framework.StateConnected })
				end(w, id)
				// Away, the node is replaced by one with the same version and the same number of children.
				w.Make("/a/old")
				must(t, errors.Join(w.Server.Delete("/a/old"), w.Server.Delete("/a"), w.Server.Create("/a", []byte("new"))))
				w.Link.Heal()
				w.Eventually("connected", func() bool { return w.Client.State().IsConnected() })
				time.Sleep(time.Minute)
				data.want(t, "data 1", "data new")
				children.want(t, "children ", "children ")
				same.want(t, "data 1")
				names.want(t, "children x")
				w.Make("/a/b")
				children.want(t, "children ", "children ", "children b")
				for _, l := range []*loop{data, children, same, names} {
					l.cancel(errEnough)
					l.wantEnd(t, errEnough)
				}
				w.wantWatches(0)
			})
		})
	}
}

func TestAWatchLoopEndsWithAnErrorThatSaysWhy(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.loop(w.Client.Watch, "a").wantEnd(t, framework.ErrInvalidPath)
		if _, err := w.Client.SetACL(t.Context(), "/a", zk.WorldACL(zk.PermWrite|zk.PermAdmin), -1); err != nil {
			t.Fatal(err)
		}
		w.loop(w.Client.Watch, "/a").wantEnd(t, zk.ErrNoAuth)
		w.loop(w.Client.WatchChildren, "/a").wantEnd(t, zk.ErrNoAuth)
		w.wantWatches(0)
		closed := w.loop(w.Client.Watch, "/b")
		_ = w.Client.Close()
		closed.wantEnd(t, framework.ErrClosed)
		w.loop(w.Client.Watch, "/b").wantEnd(t, framework.ErrClosed)
	})
}

func TestAWatchLoopThatNeverHadAConnectionSaysSo(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newCutEnv(t)
		l := w.loop(w.Client.Watch, "/a")
		time.Sleep(time.Minute)
		l.mu.Lock()
		defer l.mu.Unlock()
		var unreachable *framework.ConnectError
		if !l.ended || !errors.As(l.err, &unreachable) {
			t.Errorf("got end %v with %v, want a ConnectError", l.ended, l.err)
		}
	})
}

// A contender watches the node ahead of it until it is gone; a loop on the same node watches for good. Neither takes
// the other's watch off.
func TestAWatchLoopAndAContenderShareTheWatchOfANode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		contender := w.Session().WatchData("/a", func() {})
		first, second := w.loop(w.Client.Watch, "/a"), w.loop(w.Client.Watch, "/a")
		w.wantWatches(1)
		first.cancel(errEnough)
		first.wantEnd(t, errEnough)
		must(t, w.Server.Delete("/a"))
		second.want(t, "data 1", "gone")
		if got := contender.View(); got.Status != framework.StatusGone {
			t.Errorf("got view %+v, want the node gone", got)
		}
		contender.Stop()
		w.Make("/a")
		second.want(t, "data 1", "gone", "data 1")
		second.cancel(errEnough)
		second.wantEnd(t, errEnough)
		w.wantWatches(0)
	})
}

// Before 3.8.4 a contender that may not read the node ahead watches whether it is there.
func TestAWatchLoopThatIsRefusedLeavesAContendersWatchAlone(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.New(t, zktest.WithVersion("3.8.3"))}}
		w.Link = w.Server.NewLink()
		w.Client = w.Dial("zk:2181")
		w.Make("/a")
		if _, err := w.Client.SetACL(t.Context(), "/a", zk.WorldACL(zk.PermWrite|zk.PermDelete|zk.PermAdmin), -1); err != nil {
			t.Fatal(err)
		}
		contender := w.Session().WatchData("/a", func() {})
		time.Sleep(time.Second)
		if got := contender.View(); got.Status != framework.StatusPresent {
			t.Fatalf("got view %+v, want the node present", got)
		}
		w.loop(w.Client.Watch, "/a").wantEnd(t, zk.ErrNoAuth)
		time.Sleep(time.Second)
		if got := contender.View(); got.Status != framework.StatusPresent {
			t.Errorf("got view %+v, want the node present", got)
		}
		w.wantWatches(1)
		must(t, w.Server.SetData("/a", []byte("2")))
		time.Sleep(time.Second)
		w.loop(w.Client.Watch, "/a").wantEnd(t, zk.ErrNoAuth)
		if _, err := w.Client.SetACL(t.Context(), "/a", zk.WorldACL(zk.PermAll), -1); err != nil {
			t.Fatal(err)
		}
		w.loop(w.Client.Watch, "/a").want(t, "data 2")
		must(t, w.Server.Delete("/a"))
		time.Sleep(time.Second)
		if got := contender.View(); got.Status != framework.StatusGone {
			t.Errorf("got view %+v, want the node gone", got)
		}
		contender.Stop()
	})
}

func TestAWatchLoopNeedsNothingOfAServerButWatches(t *testing.T) {
	for name, opt := range map[string]zktest.Option{
		"ZooKeeper 3.4": zktest.WithVersion("3.4.14"), "ClickHouse Keeper 24.8": zktest.WithKeeper("24.8"), "ClickHouse Keeper 26.3": zktest.WithKeeper("26.3"),
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := &env{&clienttest.Env{T: t, Server: zktest.New(t, opt)}}
				w.Link = w.Server.NewLink()
				client := w.Dial("zk:2181")
				w.Make("/a")
				time.Sleep(time.Second)
				l := w.loop(client.WatchChildren, "/a")
				w.Make("/a/x")
				l.want(t, "children ", "children x")
				must(t, w.Server.Delete("/a/x"))
				l.want(t, "children ", "children x", "children ")
				l.cancel(errEnough)
				l.wantEnd(t, errEnough)
			})
		})
	}
}

// The loop learns of the refusal only after the node has gone. The node that comes then may be read.
func TestAWatchLoopOutlivesTheRefusalOfANodeThatHasGone(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.New(t, zktest.WithVersion("3.8.3"))}}
		w.Link = w.Server.NewLink()
		w.Client = w.Dial("zk:2181")
		w.Make("/a")
		contender := w.Session().WatchData("/a", func() {})
		defer contender.Stop()
		time.Sleep(time.Second)
		busy := make(chan struct{})
		l := w.loop(w.Client.Watch, "/a")
		l.mu.Lock()
		l.body = func(string) bool { <-busy; return true }
		l.mu.Unlock()
		must(t, w.Server.SetData("/a", []byte("2")))
		synctest.Wait() // the body works
		if _, err := w.Client.SetACL(t.Context(), "/a", zk.WorldACL(zk.PermWrite|zk.PermAdmin), -1); err != nil {
			t.Fatal(err)
		}
		must(t, w.Server.SetData("/a", []byte("3")))
		time.Sleep(time.Second)
		must(t, w.Server.Delete("/a"))
		time.Sleep(time.Second)
		close(busy)
		time.Sleep(time.Second)
		w.Make("/a")
		time.Sleep(time.Second)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.ended {
			t.Errorf("got a loop that has ended with %v after %q, want one that goes on", l.err, l.heard)
		}
	})
}
