package cache_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// Java's CuratorCache compares versions, and does not see it.
func TestATreeThatIsDeletedAndCreatedAgainWhileCutOffIsDeletedAndCreated(t *testing.T) {
	for _, version := range bothSources {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				for _, path := range []string{"/t", "/t/a", "/t/a/b"} {
					makeNode(t, server, path, "1")
				}
				client, link := newClient(t, server)
				c := start(t, client, "/t")
				e := subscribe(c)
				e.want(t, "created /t=1", "created /t/a=1", "created /t/a/b=1", "synced")
				link.Cut()
				for _, path := range []string{"/t/a/b", "/t/a", "/t"} {
					deleteNode(t, server, path)
				}
				for _, path := range []string{"/t", "/t/a", "/t/a/b"} {
					makeNode(t, server, path, "1")
				}
				link.Heal()
				time.Sleep(10 * time.Second)
				e.mu.Lock()
				slices.Sort(e.heard) // each node's are in order, and so are parents and children: apply says so
				e.mu.Unlock()
				e.want(t, "created /t/a/b=1", "created /t/a=1", "created /t=1", "deleted /t/a/b=1", "deleted /t/a=1", "deleted /t=1", "stale", "synced")
				wantEqual(t, server, c, e, "/t")
			}, zktest.WithVersion(version))
		})
	}
}

func TestARootThatDoesNotExistIsWaitedForAndNotCreated(t *testing.T) {
	for name, test := range map[string]struct {
		view    view
		connect string
		options []framework.Option
	}{
		"plain":         {view{root: "/t"}, "", nil},
		"deep":          {view{root: "/t/u/v"}, "", nil},
		"chroot":        {view{base: "/app", root: "/t"}, "/app", nil},
		"namespace":     {view{base: "/app", root: "/t"}, "", []framework.Option{framework.WithNamespace("app")}},
		"both":          {view{base: "/app/space", root: "/t"}, "/app", []framework.Option{framework.WithNamespace("space")}},
		"of a chroot":   {view{base: "/app/t", root: "/"}, "/app/t", nil},
		"of namespaces": {view{base: "/app/t", root: "/"}, "", []framework.Option{framework.WithNamespace("app/t")}},
	} {
		for _, version := range bothSources {
			t.Run(name+" "+version, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					test.view.keep = all
					root := strings.TrimSuffix(test.view.base+test.view.root, "/")
					names := strings.Split(root, "/")[1:]
					makeRoot := func() {
						for i := range names {
							_ = server.Create("/"+strings.Join(names[:i+1], "/"), nil)
						}
					}
					if test.connect != "" {
						makeRoot()
						if test.connect != root {
							deleteNode(t, server, root)
						}
					}
					client := dial(t, "zktest:2181"+test.connect, server.DialContext, test.options...)
					c := start(t, client, test.view.root, cache.WithReadAgain(0))
					e := subscribe(c)
					if test.connect != root {
						e.want(t, "synced")
						if server.Exists(root) {
							t.Error("the root was created")
						}
					}
					for range 2 {
						makeRoot()
						_ = server.Create(root+"/a", nil)
						synctest.Wait()
						test.view.wantEqual(t, server, c, e)
						if _, ok := c.Get(strings.TrimSuffix(test.view.root, "/") + "/a"); !ok {
							t.Errorf("got no child of the root: %q", e.heard)
						}
						deleteNode(t, server, root+"/a")
						deleteNode(t, server, root)
						synctest.Wait()
						if n := c.Len(); n != 0 {
							t.Errorf("got %d nodes, want none", n)
						}
						test.view.wantEqual(t, server, c, e)
					}
					makeRoot() // the client closes in its chroot
				}, zktest.WithVersion(version))
			})
		}
	}
}

func TestTheRootOfTheServersMayBeCached(t *testing.T) {
	for _, version := range bothSources {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				client, _ := newClient(t, server)
				c := start(t, client, "/")
				e := subscribe(c)
				makeNode(t, server, "/t", "1")
				makeNode(t, server, "/t/a", "1")
				setNode(t, server, "/", "2")
				synctest.Wait()
				wantEqual(t, server, c, e, "/")
				deleteNode(t, server, "/t/a")
				synctest.Wait()
				wantEqual(t, server, c, e, "/")
			}, zktest.WithVersion(version))
		})
	}
}
