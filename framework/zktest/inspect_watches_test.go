package zktest_test

import (
	"slices"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
)

// wantListed compares the watches of a server.
func wantListed(t *testing.T, srv *zktest.Server, what string, want ...zktest.Watch) {
	t.Helper()
	got := srv.ListWatches()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got the watches %v, want %v", what, got, want)
	}
	if n := srv.WatchCount(); n != len(want) {
		t.Errorf("%s: got a count of %d, want %d", what, n, len(want))
	}
	byPath := map[string]int{}
	for _, w := range want {
		byPath[w.Path]++
	}
	for path, n := range byPath {
		if got := srv.Watches(path); got != n {
			t.Errorf("%s: got %d watches on %s, want %d", what, got, path, n)
		}
	}
}

func TestListWatchesSaysWhoseWatchIsOfWhichKind(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		do(t, srv.Create("/a", nil), srv.Create("/b", nil))
		first, second := newWatcher(t, srv), newWatcher(t, srv)
		first.watchTree("/a")
		first.watchData("/a")
		first.watchChildren("/a")
		first.watchAlways("/a")
		second.watchTree("/a")
		second.watchChildren("/b")
		wantListed(t, srv, "all are set",
			zktest.Watch{Path: "/a", Kind: zktest.WatchData, Session: first.session},
			zktest.Watch{Path: "/a", Kind: zktest.WatchChildren, Session: first.session},
			zktest.Watch{Path: "/a", Kind: zktest.WatchPersistent, Session: first.session},
			zktest.Watch{Path: "/a", Kind: zktest.WatchTree, Session: first.session},
			zktest.Watch{Path: "/a", Kind: zktest.WatchTree, Session: second.session},
			zktest.Watch{Path: "/b", Kind: zktest.WatchChildren, Session: second.session},
		)
		do(t, srv.SetData("/a", nil), srv.Create("/a/x", nil))
		first.ask(zktest.OpRemoveWatches, "/a", 0, 0, 0, 4)
		wantListed(t, srv, "those that fire once are spent, the persistent one removed",
			zktest.Watch{Path: "/a", Kind: zktest.WatchTree, Session: first.session},
			zktest.Watch{Path: "/a", Kind: zktest.WatchTree, Session: second.session},
			zktest.Watch{Path: "/b", Kind: zktest.WatchChildren, Session: second.session},
		)
		srv.CutSession(second.session)
		first.ask(zktest.OpRemoveWatches, "/a", 0, 0, 0, 5)
		wantListed(t, srv, "nothing is left")
	})
}

// Before 3.9 the removal of a data watch takes a tree's watch out of one of the server's tables. What stays in the
// other still hears of deletions.
func TestListWatchesHasATreeWatchOfWhichHalfWasRemoved(t *testing.T) {
	for what, kind := range map[string]byte{"children removed": 1, "data removed": 2} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server) {
				do(t, srv.Create("/a", nil), srv.Create("/a/b", nil))
				w := newWatcher(t, srv)
				w.watchTree("/a")
				w.ask(zktest.OpRemoveWatches, "/a", 0, 0, 0, kind)
				wantListed(t, srv, what, zktest.Watch{Path: "/a", Kind: zktest.WatchTree, Session: w.session})
				do(t, srv.Delete("/a/b"))
				w.want(what, "deleted /a/b")
				w.ask(zktest.OpRemoveWatches, "/a", 0, 0, 0, 3)
				wantListed(t, srv, "any removed")
			}, zktest.WithVersion("3.8.6"))
		})
	}
}

func TestWatchKindsHaveNames(t *testing.T) {
	for kind, want := range map[zktest.WatchKind]string{
		zktest.WatchData: "data", zktest.WatchChildren: "children", zktest.WatchPersistent: "persistent", zktest.WatchTree: "tree",
		0: "watch kind(0)", 5: "watch kind(5)",
	} {
		if got := kind.String(); got != want {
			t.Errorf("got %q for kind %d, want %q", got, int(kind), want)
		}
	}
}
