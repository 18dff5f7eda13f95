package cache_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

func TestFilterThatEndsItsGoroutineEndsTheCache(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		client, _ := newClient(t, server)
		c := cache.NewCuratorCache(client, "/t", cache.WithFilter(func(string) bool {
			runtime.Goexit()
			return true
		}))
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		makeNode(t, server, "/t/a", "")
		synctest.Wait()
		if c.Err() == nil || c.Synced() || server.WatchCount() != 0 {
			t.Errorf("got error %v, synced %v, %d watches, want an error, and nothing else", c.Err(), c.Synced(), server.WatchCount())
		}
		if err := c.Start(t.Context()); err == nil {
			t.Error("got no error of Start, want that of the filter")
		}
	})
}
