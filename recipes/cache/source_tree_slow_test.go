package cache_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// A server is asked whether it watches trees in a connection of its own, which takes twice as many round trips as the
// session's. A network that is slow, but fast enough for the session, must not leave a cache without its watch for
// ever.
func TestCacheFillsOverANetworkThatIsJustFastEnoughForItsSession(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "1")
		client, link := newClient(t, server, framework.WithConnectionTimeout(3*time.Second))
		link.SetLatency(450 * time.Millisecond)
		c := cache.NewCuratorCache(client, "/t")
		started := make(chan error, 1)
		go func() { started <- c.Start(t.Context()) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := c.Synced(); !got {
			t.Error("got a cache that is not full after a minute, want it full")
		}
		_ = c.Close()
		if err := <-started; err != nil {
			t.Error(err)
		}
	})
}
