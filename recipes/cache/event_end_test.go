package cache_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

func threeNodes(t *testing.T, server *zktest.Server) *cache.CuratorCache {
	t.Helper()
	for _, path := range []string{"/t", "/t/a", "/t/b"} {
		makeNode(t, server, path, "")
	}
	client, _ := newClient(t, server)
	return start(t, client, "/t")
}

func TestALoopWhoseBodyClosesTheCacheGetsNoFurtherEvent(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		c := threeNodes(t, server)
		heard := 0
		for _, err := range c.Events(t.Context()) {
			if err != nil {
				if !errors.Is(err, cache.ErrClosed) {
					t.Errorf("got %v, want ErrClosed", err)
				}
				break
			}
			heard++
			_ = c.Close()
		}
		if heard != 1 {
			t.Errorf("got %d events, want one", heard)
		}
	})
}

func TestAFunctionIsNotCalledAgainAfterStopThoughEventsWait(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		heard, proceed := 0, make(chan struct{})
		stop := threeNodes(t, server).OnEvent(func(cache.Event) {
			heard++
			<-proceed
		})
		synctest.Wait()
		stop()
		close(proceed)
		synctest.Wait()
		if heard != 1 {
			t.Errorf("got %d calls, want the one that was running", heard)
		}
	})
}
