package live_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// A notebook writes down what it hears.
type notebook struct{ notes []string }

func (n *notebook) Listed(children []string, _ *zk.Stat) {
	n.notes = append(n.notes, "listed "+strings.Join(children, ","))
}

func (n *notebook) Created(name string) { n.notes = append(n.notes, "entered "+name) }

func (n *notebook) Gone(name string) { n.notes = append(n.notes, "gone "+name) }
func (n *notebook) Behind()          { n.notes = append(n.notes, "behind") }

func (n *notebook) want(t *testing.T, notes ...string) {
	t.Helper()
	synctest.Wait()
	if !slices.Equal(n.notes, notes) {
		t.Errorf("got the notes %q, want %q", n.notes, notes)
	}
	n.notes = nil
}

func TestAnObserverHearsWhatTheSessionHears(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Make("/a/1")
		w.Make("/a/2")
		s := w.Session()
		var n notebook
		s.ObserveChildren("/a", &n)
		if _, _, err := s.Children(t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		n.want(t, "listed 1,2")
		defer w.watchData("/a/1").stop()
		must(t, w.Server.Delete("/a/1"))
		n.want(t, "gone 1")
		w.watchData("/a/0").stop()
		n.want(t, "gone 0")
		s.Remove("/a/2")
		n.want(t, "gone 2")
		entry, err := s.CreateProtectedWithoutListing(t.Context(), "/a", "lock-", nil)
		if err != nil || entry.Children != nil {
			t.Fatalf("%+v, %v", entry, err)
		}
		n.want(t, "entered "+strings.TrimPrefix(entry.Path, "/a/"))
		w.watchChildren("/a").stop()
		n.want(t, "listed "+strings.TrimPrefix(entry.Path, "/a/"))
		s.UnobserveChildren("/a", &n)
		s.Remove(entry.Path)
		n.want(t)
	})
}

func TestALostAnswerToAnUnlistedEntryIsListed(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		var n notebook
		w.Session().ObserveChildren("/a", &n)
		w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
		entry, err := w.Session().CreateProtectedWithoutListing(t.Context(), "/a", "lock-", nil)
		if err != nil || len(entry.Children) != 1 {
			t.Errorf("%+v, %v", entry, err)
		}
	})
}

func TestWhoWatchesANodeThatIsLeavingAsksForNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		path := w.Create("/a/1", framework.WithMode(framework.EphemeralSequential), framework.CreatingParentsIfNeeded())
		resume := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		s := w.Session()
		s.Remove(path)
		o := w.watchData(path)
		o.want(t, framework.StatusUnknown)
		resume()
		o.want(t, framework.StatusGone)
		if n := w.Count(zktest.OpGetData); n != 0 || o.wakes != 1 {
			t.Errorf("%d requests, %d wakes", n, o.wakes)
		}
		o.stop()
		w.wantWatches(0)
	})
}

// It may not be removed: then it is watched like any other.
func TestWhoWatchesANodeThatCouldNotBeRemovedAsksForIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Make("/a/1")
		resume := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		w.Session().Remove("/a") // it has a child
		o := w.watchData("/a")
		resume()
		o.want(t, framework.StatusPresent)
		o.stop()
		w.wantWatches(0)
	})
}

// A listing is the caller's to change, and the observer's.
func TestAnObserverHasAListingOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Make("/a/1")
		s := w.Session()
		f := &keeper{}
		s.ObserveChildren("/a", f)
		defer s.UnobserveChildren("/a", f)
		children, _, err := s.Children(t.Context(), "/a")
		must(t, err)
		children[0] = "changed"
		if f.children[0] != "1" {
			t.Errorf("the observer has %q", f.children)
		}
	})
}

type keeper struct {
	notebook

	children []string
}

func (k *keeper) Listed(children []string, _ *zk.Stat) { k.children = children }

// A witness looks, when it hears of a change, at what others can see.
type witness struct {
	notebook

	look func() framework.Status
	saw  []framework.Status
}

func (w *witness) Gone(string) { w.saw = append(w.saw, w.look()) }
func (w *witness) Behind()     {}

// A watcher that was woken by something older, and sees that a node is gone, finds that its observers know.
func TestAnObserverHearsOfADeletionBeforeAViewShowsIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		s := w.Session()
		toldFirst := func(how string, begin func() *watching, end func()) {
			o := begin()
			f := &witness{look: func() framework.Status { return o.view().Status }}
			s.ObserveChildren("/a", f)
			end()
			o.want(t, framework.StatusGone)
			if len(f.saw) == 0 || f.saw[0] == framework.StatusGone {
				t.Errorf("%s: when the observer was called, others saw %v", how, f.saw)
			}
			o.stop()
			s.UnobserveChildren("/a", f)
		}
		watch := func() *watching { return w.watchData("/a/1") }
		w.Make("/a/1")
		toldFirst("an event", watch, func() {
			must(t, w.Server.Delete("/a/1"))
		})
		resume := w.Server.HoldRequest(zktest.Match{Op: zktest.OpGetData})
		toldFirst("an answer", watch, resume)
		w.Make("/a/1")
		resume = w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		s.Remove("/a/1")
		toldFirst("a removal", watch, resume)
	})
}

func TestAChildrenWatchFiresWhenItsNodeIsBeingRemoved(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		resume := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		w.Session().Remove("/a")
		o := w.watchChildren("/a")
		resume()
		o.want(t, framework.StatusGone)
		o.stop()
		w.wantWatches(0)
	})
}

// The watch is left to the removal of the node, which would take it off; but that is refused.
func TestAWatchThatEndsWhileItsNodeIsNotRemovedIsTakenOff(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		w.Make("/a/1")
		o := w.watchData("/a")
		o.want(t, framework.StatusPresent)
		resume := w.Server.HoldRequest(zktest.Match{Op: zktest.OpDelete})
		w.Session().Remove("/a") // it has a child
		o.stop()
		resume()
		w.wantWatches(0)
	})
}

func TestARefusedCreationIsNotReportedToObservers(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		dir := w.Create("/a/1", framework.WithMode(framework.Ephemeral), framework.CreatingParentsIfNeeded())
		var n notebook
		w.Session().ObserveChildren(dir, &n)
		defer w.Session().UnobserveChildren(dir, &n)
		if _, err := w.Session().CreateProtectedWithoutListing(t.Context(), dir, "lock-", nil); !errors.Is(err, zk.ErrNoChildrenForEphemerals) {
			t.Errorf("got %v", err)
		}
		n.want(t)
	})
}
