package cache_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

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

func TestALoopOverACacheThatIsNotStartedEndsWithThatError(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		c := cache.NewCuratorCache(client, "/t")
		want := func(when string) {
			t.Helper()
			n := 0
			for event, err := range c.Events(t.Context()) {
				if n++; n > 1 || event.Kind != 0 || !errors.Is(err, cache.ErrNotStarted) {
					t.Errorf("%s: got %v, %v, want %v alone", when, event, err, cache.ErrNotStarted)
				}
			}
		}
		want("before Start")
		link.Mute()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { _ = c.Start(ctx) }()
		synctest.Wait()
		want("while Start fails")
		want("after Start has failed")
	})
}

func TestAnEventIsPrintedWithItsNode(t *testing.T) {
	node := cache.Node{Path: "/t/a", Data: []byte("a\n" + strings.Repeat("b", 100)), Stat: &zk.Stat{Version: 3}}
	text := `node "/t/a" (version 3, 102 bytes: "a\n` + strings.Repeat("b", 38) + `")`
	for want, value := range map[string]any{
		text:              node,
		"changed " + text: cache.Event{Kind: cache.Changed, Old: cache.Node{Path: "/x"}, New: node},
		"deleted " + text: cache.Event{Kind: cache.Deleted, Old: node},
		"synced":          cache.Event{Kind: cache.Synced},
		`node ""`:         cache.Node{},
	} {
		if got := fmt.Sprint(value); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
