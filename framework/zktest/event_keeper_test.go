package zktest_test

import (
	"testing"

	"github.com/gocurator/curator/framework/zktest"
)

// The same changes, with the same watches, at both servers.
func TestTreeEventsHaveThePathOfTheWatchAtKeeper(t *testing.T) {
	for name, c := range map[string]struct {
		option zktest.Option
		want   []string
	}{
		"ZooKeeper": {zktest.WithVersion("3.9.5"), []string{
			"created /a/b", "data /a/b", "created /a/b/c", "deleted /a/b/c", "deleted /a/b", "data /a",
		}},
		"Keeper 26.3": {zktest.WithKeeper("26.3"), []string{
			"created /a", "created /", "data /a", "data /", "created /a", "created /", "deleted /a", "deleted /",
			"deleted /a", "deleted /", "data /a", "data /",
		}},
		"Keeper 26.8": {zktest.WithKeeper("26.8"), []string{
			"created /a", "created /", "data /a", "data /", "created /a", "created /", "deleted /a", "deleted /",
			"deleted /a", "deleted /", "data /a", "data /",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server) {
				do(t, srv.Create("/a", nil))
				w := newWatcher(t, srv)
				w.watchTree("/a")
				w.watchTree("/")
				do(t, srv.Create("/a/b", nil), srv.SetData("/a/b", nil), srv.Create("/a/b/c", nil))
				do(t, srv.Delete("/a/b/c"), srv.Delete("/a/b"), srv.SetData("/a", nil))
				w.want("two trees", c.want...)
				if got := srv.WatchCount(); got != 2 {
					t.Errorf("got %d watches, want both to stay", got)
				}
			}, c.option)
		})
	}
}

func TestEachWatchOfAClientHasAnEventAtKeeper(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		do(t, srv.Create("/a", nil))
		w := newWatcher(t, srv)
		w.watchAlways("/a")
		w.watchTree("/a")
		w.watchData("/a")
		w.watchChildren("/a")
		do(t, srv.SetData("/a", nil))
		w.want("a change", "data /a", "data /a", "data /a") // the tree's, the one that fires once, the persistent one
		w.watchData("/a")
		do(t, srv.Create("/a/b", nil))
		w.want("a new child", "created /a", "children /a", "children /a")
		w.watchChildren("/a")
		do(t, srv.SetACL("/a", unreadable))
		w.want("an ACL")
		do(t, srv.Delete("/a/b"))
		w.want("a lost child", "deleted /a", "children /a", "children /a")
		do(t, srv.Delete("/a"))
		w.want("the end", "deleted /a", "deleted /a", "deleted /a", "deleted /a")
		wantListed(t, srv, "those that fire once are spent",
			zktest.Watch{Path: "/a", Kind: zktest.WatchPersistent, Session: w.session},
			zktest.Watch{Path: "/a", Kind: zktest.WatchTree, Session: w.session},
		)
	}, zktest.WithKeeper("26.8"))
}

func TestDropEventsOfATreeGoesByThePathThatTheEventNames(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server) {
		do(t, srv.Create("/a", nil), srv.Create("/a/b", nil))
		w := newWatcher(t, srv)
		w.watchTree("/a")
		defer srv.DropEvents(zktest.Match{Path: "/a"})()
		do(t, srv.SetData("/a/b", nil))
		w.want("an event of /a/b, which names /a")
	}, zktest.WithKeeper("26.8"))
}
