package live_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// requests records what the server executes.
type requests struct {
	mu  sync.Mutex
	all []string
}

func (w *env) observe() *requests {
	r := &requests{}
	w.Cleanup(w.Server.Observe(func(q zktest.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, q.Op.String()+" "+q.Path)
	}))
	return r
}

func (r *requests) index(request string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Index(r.all, request)
}

// A listing that is asked for after a removal must not have the node: a contender would wait for one that its own
// session has released.
func TestARemovalGoesAheadOfWhatIsAskedForLater(t *testing.T) {
	for name, away := range map[string]bool{"connected": false, "after a reconnection": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/dir")
				path := w.Create("/dir/e", framework.WithMode(framework.Ephemeral))
				s := w.Session()
				watches := []*watching{w.watchChildren("/dir"), w.watchData("/dir"), w.watchData(path)}
				seen := w.observe()
				if away {
					w.Link.Cut()
					w.Eventually("suspended", func() bool { return w.Client.State() == framework.StateSuspended })
				}
				s.Remove(path)
				listed := make(chan []string, 1)
				go func() {
					children, err := s.List(t.Context(), "/dir")
					wantErr(t, err)
					listed <- children
				}()
				if away {
					time.Sleep(clienttest.SessionTimeout / 4)
					w.Link.Heal()
				}
				if children := <-listed; len(children) > 0 {
					t.Errorf("the listing has %q", children)
				}
				removal := seen.index(zktest.OpDelete.String() + " " + path)
				if removal < 0 {
					t.Fatalf("no removal among %q", seen.all)
				}
				for _, read := range []zktest.Op{zktest.OpGetChildren2, zktest.OpGetData, zktest.OpExists} {
					for _, of := range []string{"/dir", path} {
						if i := seen.index(read.String() + " " + of); i >= 0 && i < removal {
							t.Errorf("a read came ahead of the removal: %q", seen.all)
						}
					}
				}
				for _, o := range watches {
					o.stop()
				}
			})
		})
	}
}

func TestARemovalIsAskedForOnEveryConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		path := w.Create("/e", framework.WithMode(framework.Ephemeral))
		w.Server.DropRequest(zktest.Match{Op: zktest.OpDelete, Nth: 1})
		w.Server.DropRequest(zktest.Match{Op: zktest.OpDelete, Nth: 2})
		r := s.Remove(path)
		if same := s.Remove(path); same != r {
			t.Errorf("got two removals of %s, want one", path)
		}
		<-r.Done()
		if r.Err() != nil || w.Server.Exists(path) {
			t.Errorf("error %v, there: %v", r.Err(), w.Server.Exists(path))
		}
		again := s.Remove(path)
		<-again.Done()
		if again.Err() != nil {
			t.Errorf("a node that is gone: %v", again.Err())
		}
	})
}

func TestARemovalEndsWithItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		path := w.Create("/e", framework.WithMode(framework.Ephemeral))
		w.Link.Cut()
		time.Sleep(time.Second)
		r := s.Remove(path)
		<-r.Done()
		wantErr(t, r.Err(), framework.ErrSessionLost)
		late := s.Remove(path)
		<-late.Done()
		wantErr(t, late.Err(), framework.ErrSessionLost)
		w.Link.Heal()
		w.Eventually("gone with its session", func() bool { return !w.Server.Exists(path) })
	})
}

// A guaranteed deletion and a recipe ask for the removal of one node, which is then one removal. In either order, the
// next session must go on with it.
func TestARemovalWithTwoAskersGoesOnInTheNextSessionIfOneOfThemNeedsIt(t *testing.T) {
	guaranteed := func(t *testing.T, w *env) {
		err := w.Client.Delete(w.Within(time.Second), "/x", -1, framework.Guaranteed())
		wantErr(t, err, context.DeadlineExceeded)
	}
	removed := func(_ *testing.T, w *env) { w.Session().Remove("/x") }
	for name, asks := range map[string][]func(t *testing.T, w *env){
		"the first needs it":  {guaranteed, removed},
		"the second needs it": {removed, guaranteed},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/x")
				s := w.Session()
				release := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
				for _, ask := range asks {
					ask(t, w)
				}
				w.Server.ExpireSession(s.ID())
				release()
				<-s.Done()
				time.Sleep(5 * time.Second)
				if w.Server.Exists("/x") {
					t.Error("got /x, want it deleted by the next session")
				}
			})
		})
	}
}

func TestARemovalThatIsRefusedSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Make("/a/b")
		r := w.Session().Remove("/a")
		<-r.Done()
		wantErr(t, r.Err(), zk.ErrNotEmpty)
	})
}
