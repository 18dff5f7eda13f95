package cache_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// The watch of a new node is set before the connection is lost, and did not answer. Or a node is read again meanwhile,
// until all watches have answered on the next connection. Synced waits for what is below, too.
func TestSyncedWaitsForNodesOfWhichNoWatchSaysThatItWasLost(t *testing.T) {
	for _, again := range []time.Duration{0, 50 * time.Millisecond} {
		for after := 5 * time.Millisecond; after <= 70*time.Millisecond; after += 5 * time.Millisecond {
			t.Run(fmt.Sprint(again, " ", after), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					makeNode(t, server, "/t", "")
					makeNode(t, server, "/t/a", "")
					client, link := newClient(t, server)
					c := start(t, client, "/t", cache.WithReadAgain(again))
					link.SetLatency(10 * time.Millisecond)
					e := newEvents()
					c.OnEvent(func(event cache.Event) {
						if e.hear(event); event.Kind == cache.Synced && server.Exists("/t/a/b/c") {
							view{root: "/t", keep: all}.wantHeard(t, server, e)
						}
					})
					create := func() {
						makeNode(t, server, "/t/a/b", "1")
						makeNode(t, server, "/t/a/b/c", "1")
					}
					synctest.Wait()
					if again == 0 {
						create()
					}
					time.Sleep(after)
					link.Cut()
					time.Sleep(time.Second)
					if again != 0 {
						create()
					}
					link.Heal()
					time.Sleep(10 * time.Second)
					wantEqual(t, server, c, e, "/t")
				}, zktest.WithVersion("3.5"))
			})
		}
	}
}

// Its children's watches are set while their parent becomes unreadable: the cache does not have them, and watches none.
func TestNoWatchStaysOnNodesBelowOneThatMayNotBeRead(t *testing.T) {
	for after := time.Duration(0); after <= 200*time.Millisecond; after += 5 * time.Millisecond {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/t", "")
			makeNode(t, server, "/t/a", "")
			for i := range 100 {
				makeNode(t, server, fmt.Sprintf("/t/a/%d", i), "")
			}
			client, link := newClient(t, server)
			link.SetLatency(10 * time.Millisecond)
			c := cache.NewCuratorCache(client, "/t", cache.WithReadAgain(0))
			go func() { _ = c.Start(t.Context()) }()
			time.Sleep(after)
			if err := server.SetACL("/t/a", zktest.ACL{Perms: 31, Scheme: "digest", ID: "x:x"}); err != nil {
				t.Error(err)
			}
			setNode(t, server, "/t/a", "2")
			time.Sleep(5 * time.Second)
			if n := c.Len(); n != 1 {
				t.Errorf("%d nodes, want the root", n)
			}
			for _, watch := range server.ListWatches() {
				if watch.Path != "/t" && watch.Path != "/zookeeper/config" {
					t.Errorf("when the permission was taken after %v, a watch remains: %v", after, watch)
				}
			}
			_ = c.Close()
			time.Sleep(time.Second)
		}, zktest.WithVersion("3.5"))
		if t.Failed() {
			return
		}
	}
}
