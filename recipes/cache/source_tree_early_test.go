package cache_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// Each answer about the root is overtaken by an event with the root's path, so that the cache cannot know yet whether
// such events are of the root: until then each has the whole tree read.
func TestEventOfAnotherNodeIsNotMissedBeforeTheRootIsKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		makeNode(t, server, "/t/a", "")
		client, _ := newClient(t, server)
		root := zktest.Match{Op: zktest.OpGetData, Path: "/t"}
		first := server.HoldRequest(root)
		c := cache.NewCuratorCache(client, "/t", cache.WithReadAgain(0))
		e := subscribe(c)
		started := make(chan error, 1)
		go func() { started <- c.Start(t.Context()) }()
		synctest.Wait()
		makeNode(t, server, "/t/b", "")
		synctest.Wait()
		second := server.HoldRequest(root)
		first()
		synctest.Wait()
		makeNode(t, server, "/t/c", "")
		synctest.Wait()
		second()
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		wantEqual(t, server, c, e, "/t")
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}, zktest.WithKeeper("26.3"))
}
