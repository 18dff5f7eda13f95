package cache_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func TestARootThatIsMadeAgainIsNoLostConnectionAtOldServers(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		makeNode(t, server, "/t/a", "1")
		client, link := newClient(t, server)
		c := start(t, client, "/t")
		e := subscribe(c)
		e.want(t, "created /t", "created /t/a=1", "synced")
		link.SetLatency(10 * time.Millisecond)
		deleteNode(t, server, "/t/a")
		deleteNode(t, server, "/t")
		time.Sleep(time.Second)
		e.want(t, "deleted /t/a=1", "deleted /t")
		makeNode(t, server, "/t", "2")
		makeNode(t, server, "/t/a", "3")
		time.Sleep(time.Second)
		e.want(t, "created /t=2", "created /t/a=3")
		if n := c.Stats().Readings; n != 1 {
			t.Errorf("the tree was read %d times, want 1", n)
		}
	}, zktest.WithVersion("3.5"))
}
