package cache_test

import (
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// A subscriber hears of a cache that ends by itself, and is started again, whether or not it is in a call meanwhile.
func TestSubscriberOfACacheThatIsStartedAgainGoesOnFromWhatItHasHeard(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		makeNode(t, server, "/t/a", "")
		client, _ := newClient(t, server)
		c := start(t, client, "/t", cache.WithMaxBytes(12))
		quick, slow := subscribe(c), &events{nodes: map[string]cache.Node{}}
		goOn := make(chan struct{})
		c.OnEvent(func(event cache.Event) {
			slow.hear(event)
			<-goOn
		})
		quick.want(t, "created /t", "created /t/a", "synced")
		slow.want(t, "created /t")
		setNode(t, server, "/t", "0123456789")
		quick.want(t, "stale")
		setNode(t, server, "/t", "0")
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		quick.want(t, "deleted /t/a", "deleted /t", "created /t=0", "created /t/a", "synced")
		close(goOn)
		slow.want(t, "created /t/a", "synced", "changed /t=0")
		wantEqual(t, server, c, quick, "/t")
		wantEqual(t, server, c, slow, "/t")
	})
}
