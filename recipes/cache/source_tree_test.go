package cache_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// ClickHouse Keeper 26.3 to 26.8 sends the events of all nodes with the path of the watch.
func TestEventsWithThePathOfAnotherNodeAreNoticedBeforeTheyCostAChange(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, server *zktest.Server){
		"a child was set":     func(t *testing.T, server *zktest.Server) { setNode(t, server, "/t/a", "2") },
		"a child was created": func(t *testing.T, server *zktest.Server) { makeNode(t, server, "/t/b", "2") },
		"a child was deleted": func(t *testing.T, server *zktest.Server) { deleteNode(t, server, "/t/a") },
		"a child, then the root, were set": func(t *testing.T, server *zktest.Server) {
			setNode(t, server, "/t/a", "2")
			setNode(t, server, "/t", "2")
		},
		"a child was created, and the root set": func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/t/b", "2")
			setNode(t, server, "/t", "2")
		},
		"the root was set, and a child while the root was read": func(t *testing.T, server *zktest.Server) {
			setNode(t, server, "/t", "2")
			time.Sleep(15 * time.Millisecond)
			setNode(t, server, "/t/a", "2")
			setNode(t, server, "/t", "3")
		},
		"the root was created again": func(t *testing.T, server *zktest.Server) {
			deleteNode(t, server, "/t/a")
			deleteNode(t, server, "/t")
			makeNode(t, server, "/t", "2")
			time.Sleep(15 * time.Millisecond)
			makeNode(t, server, "/t/a", "3")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/t", "1")
				makeNode(t, server, "/t/a", "1")
				var log warnings
				client, link := newClient(t, server, log.option())
				c := start(t, client, "/t", cache.WithReadAgain(0))
				e := subscribe(c)
				link.SetLatency(10 * time.Millisecond)
				change(t, server)
				time.Sleep(time.Second)
				wantEqual(t, server, c, e, "/t")
				setNode(t, server, "/t", "4")
				time.Sleep(time.Second)
				wantEqual(t, server, c, e, "/t")
				if n := log.count("path of another node"); n > 1 {
					t.Errorf("logged %d times, want once at most", n)
				}
				_ = c.Close()
				time.Sleep(time.Second)
				if left := watches(server); len(left) > 0 {
					t.Errorf("after Close: got the watches %q, want none", left)
				}
			}, zktest.WithKeeper("26.4"))
		})
	}
}

func TestEventsOfTheRootAreNotTakenForThoseOfAnotherNode(t *testing.T) {
	for seed := range 5 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				random := rand.New(rand.NewPCG(uint64(seed), 4))
				var log warnings
				client, link := newClient(t, server, log.option())
				c := start(t, client, "/t")
				for range 500 {
					link.SetLatency(time.Duration(random.IntN(10)) * time.Millisecond)
					switch random.IntN(8) {
					case 0:
						_ = server.Create("/t", nil)
					case 1:
						_ = server.Delete("/t")
					case 2:
						_ = server.Create("/t/a", nil)
					case 3:
						_ = server.Delete("/t/a")
					default:
						_ = server.SetData("/t", nil)
					}
					if random.IntN(50) == 0 {
						link.Reset()
					}
					time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
				}
				time.Sleep(10 * time.Second)
				wantEqual(t, server, c, nil, "/t")
				if n := log.count("path of another node"); n != 0 {
					t.Errorf("logged %d times, want never", n)
				}
			})
		})
	}
}

// A program may go from servers that watch trees to some that do not, and back: zktest has no servers of two versions
// that know the same session.
func TestCacheFollowsWhicheverServersThereAre(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, "3.9.5", rand.New(rand.NewPCG(1, 1)))
		makeNode(t, w.server, "/t", "")
		client := dial(t, "zktest:2181", w.DialContext)
		c := start(t, client, "/t")
		e := subscribe(c)
		for i, version := range []string{"3.5", "3.6", "3.5", "3.9.5"} {
			w.opts = []zktest.Option{zktest.WithVersion(version)}
			w.replace()
			time.Sleep(30 * time.Second)
			for range 3 {
				makeNode(t, w.server, fmt.Sprintf("/t/%d", i), "")
				time.Sleep(10 * time.Millisecond)
				wantEqual(t, w.server, c, e, "/t")
				deleteNode(t, w.server, fmt.Sprintf("/t/%d", i))
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
