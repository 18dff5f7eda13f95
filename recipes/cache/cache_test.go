package cache_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

func TestSubscriberHearsWhatIsThereThenSyncedThenEachDifference(t *testing.T) {
	for _, version := range []string{"3.5", "3.6", "3.9.5"} {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/t", "")
				makeNode(t, server, "/t/a", "1")
				makeNode(t, server, "/t/a/b", "2")
				client, link := newClient(t, server)
				c := cache.NewCuratorCache(client, "/t")
				first := subscribe(c)
				if err := c.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				second := subscribe(c)
				first.want(t, "created /t", "created /t/a=1", "created /t/a/b=2", "synced")
				second.want(t, "created /t", "created /t/a=1", "created /t/a/b=2", "synced")
				setNode(t, server, "/t/a", "3")
				first.want(t, "changed /t/a=3")
				deleteNode(t, server, "/t/a/b")
				first.want(t, "deleted /t/a/b=2")
				makeNode(t, server, "/t/c", "")
				first.want(t, "created /t/c")
				link.Cut()
				first.want(t, "stale")
				deleteNode(t, server, "/t/c")
				makeNode(t, server, "/t/c", "")
				link.Heal()
				time.Sleep(5 * time.Second)
				first.want(t, "deleted /t/c", "created /t/c", "synced")
				wantEqual(t, server, c, first, "/t", all)
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				first.want(t)
				if n := server.WatchCount(); n != 0 {
					t.Errorf("%d watches remain", n)
				}
			}, zktest.WithVersion(version))
		})
	}
}
