package cache_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// What is gone is deeper than what is new, so it is in the cache until its parent is listed, in a later round.
func TestATreeThatIsReplacedDuringAnOutageIsNotTooLarge(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		data := strings.Repeat("x", 400)
		for _, path := range []string{"/t", "/t/b", "/t/z", "/t/z/m", "/t/z/m/n"} {
			makeNode(t, server, path, "")
		}
		makeNode(t, server, "/t/z/m/n/x", data)
		client, link := newClient(t, server)
		c := start(t, client, "/t", cache.WithMaxBytes(600))
		link.Cut()
		synctest.Wait()
		deleteNode(t, server, "/t/z/m/n/x")
		makeNode(t, server, "/t/b/y", data)
		link.Heal()
		time.Sleep(sessionTimeout)
		if err := c.Err(); err != nil || !c.Synced() {
			t.Fatalf("got error %v, synced %v, want a cache that follows", err, c.Synced())
		}
		wantEqual(t, server, c, nil, "/t")

		makeNode(t, server, "/t/b/x", data)
		synctest.Wait()
		if err := c.Err(); !errors.Is(err, cache.ErrTooLarge) || c.Len() != 0 {
			t.Errorf("above the limit: got error %v and %d nodes, want %v and none", err, c.Len(), cache.ErrTooLarge)
		}
		if err := c.Close(); err != nil || !errors.Is(c.Err(), cache.ErrClosed) {
			t.Errorf("Close: got %v, and then the error %v, want none and %v", err, c.Err(), cache.ErrClosed)
		}
	})
}
