package cache_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// strike calls fn right before request n from now on is executed, and returns how many there were until stop.
func strike(server *zktest.Server, n int64, fn func()) (count func() int64, stop func()) {
	var seen atomic.Int64
	stop = server.Observe(func(r zktest.Request) {
		if r.Op != zktest.OpPing && seen.Add(1) == n {
			fn()
		}
	})
	return seen.Load, stop
}

// strikes are what can happen between two requests.
var strikes = map[string]func(server *zktest.Server, link *zktest.Link){
	"the link is reset": func(_ *zktest.Server, link *zktest.Link) { link.Reset() },
	"the session ends": func(server *zktest.Server, _ *zktest.Link) {
		for _, s := range server.Sessions() {
			server.ExpireSession(s.ID)
		}
	},
	"a node is created": func(server *zktest.Server, _ *zktest.Link) { _ = server.Create("/t/a/new", nil) },
	"the root is set":   func(server *zktest.Server, _ *zktest.Link) { _ = server.SetData("/t", []byte("2")) },
}

// eachStrike plays a test with a strike before its first request, its second, and so on, until there are no more.
func eachStrike(t *testing.T, test func(t *testing.T, server *zktest.Server, arm func(link *zktest.Link) (stop func()))) {
	for _, version := range bothSources {
		for name, blow := range strikes {
			t.Run(version+" "+name, func(t *testing.T) {
				struck := true
				for n := int64(1); struck && !t.Failed(); n++ {
					inBubble(t, func(t *testing.T, server *zktest.Server) {
						for _, path := range []string{"/t", "/t/a", "/t/a/b", "/t/a/b/c", "/t/d", "/t/e"} {
							makeNode(t, server, path, "1")
						}
						count := func() int64 { return 0 }
						test(t, server, func(link *zktest.Link) (stop func()) {
							count, stop = strike(server, n, func() { blow(server, link) })
							return stop
						})
						if struck = count() >= n; t.Failed() {
							t.Errorf("when request %d was struck", n)
						}
					}, zktest.WithVersion(version))
				}
			})
		}
	}
}

func TestTheFirstReadingSurvivesAStrikeBetweenAnyTwoOfItsRequests(t *testing.T) {
	eachStrike(t, func(t *testing.T, server *zktest.Server, arm func(link *zktest.Link) (stop func())) {
		client, link := newClient(t, server)
		link.SetLatency(time.Millisecond)
		c := cache.NewCuratorCache(client, "/t")
		e := newEvents()
		c.OnEvent(func(event cache.Event) {
			if event.Kind == cache.Deleted {
				t.Errorf("deleted %s, and no node was", event.Old.Path)
			}
			if e.hear(event); event.Kind == cache.Synced && len(e.nodes) < 6 {
				t.Errorf("synced with %d nodes, want 6", len(e.nodes))
			}
		})
		stop := arm(link)
		if err := c.Start(t.Context()); err != nil || !c.Synced() {
			t.Fatalf("got %v, synced %v", err, c.Synced())
		}
		time.Sleep(15 * time.Second)
		stop() // what is struck last takes its time, too
		time.Sleep(15 * time.Second)
		wantEqual(t, server, c, e, "/t")
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if left := server.ListWatches(); len(left) != 0 {
			t.Errorf("watches remain: %v", left)
		}
	})
}

// What has changed while the link was cut is heard of before Synced, whatever happens to the reading.
func TestALaterReadingSurvivesAStrikeBetweenAnyTwoOfItsRequests(t *testing.T) {
	eachStrike(t, func(t *testing.T, server *zktest.Server, arm func(link *zktest.Link) (stop func())) {
		client, link := newClient(t, server)
		link.SetLatency(time.Millisecond)
		c := start(t, client, "/t")
		e := newEvents()
		c.OnEvent(func(event cache.Event) {
			e.hear(event)
			if _, early := e.nodes["/t/d"]; event.Kind == cache.Synced && early != server.Exists("/t/d") {
				t.Error("synced before what was deleted was heard of")
			}
		})
		synctest.Wait()
		link.Cut()
		e.want(t, "created /t=1", "created /t/a=1", "created /t/a/b=1", "created /t/a/b/c=1", "created /t/d=1", "created /t/e=1", "synced", "stale")
		deleteNode(t, server, "/t/a/b/c")
		deleteNode(t, server, "/t/d")
		deleteNode(t, server, "/t/e")
		makeNode(t, server, "/t/e", "1")
		stop := arm(link)
		link.Heal()
		time.Sleep(15 * time.Second)
		stop()
		time.Sleep(15 * time.Second)
		wantEqual(t, server, c, e, "/t")
		if !c.Synced() {
			t.Error("the cache is not synced")
		}
		deleted := slices.DeleteFunc(e.heard, func(heard string) bool { return !strings.HasPrefix(heard, "deleted") })
		if want := []string{"deleted /t/e=1", "deleted /t/d=1", "deleted /t/a/b/c=1"}; len(deleted) != len(want) {
			t.Errorf("got %q, want %q in some order", deleted, want)
		}
	})
}

// Readings of many rounds: Synced waits for all of them.
func TestSyncedComesAfterAllDifferencesOfItsReading(t *testing.T) {
	for _, version := range bothSources {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				const children = 200
				makeNode(t, server, "/t", "")
				client, link := newClient(t, server)
				for i := range children {
					makeNode(t, server, fmt.Sprintf("/t/%03d", i), "")
				}
				link.SetLatency(3 * time.Millisecond)
				c := cache.NewCuratorCache(client, "/t")
				e := newEvents()
				synced := 0
				c.OnEvent(func(event cache.Event) {
					if e.hear(event); event.Kind == cache.Synced {
						synced++
						view{root: "/t", keep: all}.wantHeard(t, server, e)
					}
				})
				if err := c.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				for range 3 {
					link.Cut()
					synctest.Wait()
					for i := 0; i < children; i += 3 {
						setNode(t, server, fmt.Sprintf("/t/%03d", i), "2")
						deleteNode(t, server, fmt.Sprintf("/t/%03d", i+1))
						makeNode(t, server, fmt.Sprintf("/t/%03d", i+1), "")
					}
					link.Heal()
					time.Sleep(30 * time.Second)
				}
				if readings := c.Stats().Readings; synced != 4 || readings != 4 {
					t.Errorf("synced %d times after %d readings, want 4", synced, readings)
				}
				_ = c.Close()
				time.Sleep(time.Second)
			}, zktest.WithVersion(version))
		})
	}
}
