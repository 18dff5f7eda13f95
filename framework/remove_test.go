package framework_test

import (
	"slices"
	"sync"
	"testing"
	"time"

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

// A listing that is asked for after a removal must not have the node: a contender would wait for one that its own session has
// released.
func TestARemovalGoesAheadOfWhatIsAskedForLater(t *testing.T) {
	for name, away := range map[string]bool{"connected": false, "after a reconnection": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.make("/dir")
				path := w.Create("/dir/e", framework.WithMode(framework.Ephemeral))
				s := w.Session()
				watches := []*watching{w.watchChildren("/dir"), w.watchData("/dir"), w.watchData(path)}
				seen := w.observe()
				if away {
					w.Link.Cut()
					w.Eventually("suspended", func() bool { return w.Client.State() == suspended })
				}
				s.Remove(path)
				listed := make(chan []string, 1)
				go func() {
					children, err := s.List(t.Context(), "/dir")
					if err != nil {
						t.Error(err)
					}
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
