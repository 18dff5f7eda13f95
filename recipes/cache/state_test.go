package cache_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func TestStatsSaySinceWhenTheCacheMayBeBehind(t *testing.T) {
	for _, version := range bothSources {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/t", "")
			client, link := newClient(t, server)
			c := start(t, client, "/t")
			for range 2 {
				if got := c.Stats().Stale; !got.IsZero() {
					t.Errorf("version %s: got stale since %v with a connection, want never", version, got)
				}
				time.Sleep(time.Minute)
				began := time.Now()
				link.Reset()
				link.Cut()
				time.Sleep(time.Minute)
				if got := c.Stats().Stale; got.Sub(began) != 0 {
					t.Errorf("version %s: got stale since %v without a connection, want %v", version, got, began)
				}
				link.Heal()
				time.Sleep(time.Minute)
			}
		}, zktest.WithVersion(version))
	}
}
