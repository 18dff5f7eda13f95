package cache_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

func TestSubscriberHearsWhatIsThereThenSyncedThenEachDifference(t *testing.T) {
	for _, version := range []string{"3.5", "3.6", "3.9.5"} {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/t", "")
				makeNode(t, server, "/t/a", "1")
				makeNode(t, server, "/t/a/b", "2")
				client, link := newClient(t, server)
				c := cache.NewCuratorCache(client, "/t")
				first := subscribe(c)
				if err := c.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				second := subscribe(c)
				first.want(t, "created /t", "created /t/a=1", "created /t/a/b=2", "synced")
				second.want(t, "created /t", "created /t/a=1", "created /t/a/b=2", "synced")
				setNode(t, server, "/t/a", "3")
				first.want(t, "changed /t/a=3")
				deleteNode(t, server, "/t/a/b")
				first.want(t, "deleted /t/a/b=2")
				makeNode(t, server, "/t/c", "")
				first.want(t, "created /t/c")
				link.Cut()
				first.want(t, "stale")
				deleteNode(t, server, "/t/c")
				makeNode(t, server, "/t/c", "")
				link.Heal()
				time.Sleep(5 * time.Second)
				first.want(t, "deleted /t/c", "created /t/c", "synced")
				wantEqual(t, server, c, first, "/t")
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				first.want(t)
				if n := server.WatchCount(); n != 0 {
					t.Errorf("%d watches remain", n)
				}
			}, zktest.WithVersion(version))
		})
	}
}

func TestCloseEndsAStartThatWaitsForAServer(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, link := newClient(t, server)
		link.Cut()
		time.Sleep(2 * sessionTimeout)
		c := cache.NewCuratorCache(client, "/t")
		started := make(chan error, 1)
		go func() { started <- c.Start(t.Context()) }()
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		select {
		case err := <-started:
			if !errors.Is(err, cache.ErrClosed) {
				t.Errorf("got %v of Start, want ErrClosed", err)
			}
		default:
			t.Error("Start goes on after Close")
			<-started
		}
	})
}

// Servers before 3.6, and a depth of 0, have a watch for each node, which reads what it has heard of: a root that was
// created twice.
func TestSyncHasEveryChangeThatWasCommittedBefore(t *testing.T) {
	for _, version := range []string{"3.5", "3.9.5"} {
		for depth := range 3 {
			t.Run(fmt.Sprint(version, " depth ", depth), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					client, link := newClient(t, server)
					c := start(t, client, "/t", cache.WithDepth(depth))
					link.SetLatency(10 * time.Millisecond)
					want := view{root: "/t", keep: func(path string) bool { return strings.Count(path, "/") <= depth+1 }}
					for i, change := range []func(){
						func() { makeNode(t, server, "/t", "1") },
						func() { setNode(t, server, "/t", "2") },
						func() { makeNode(t, server, "/t/a", ""); makeNode(t, server, "/t/a/b", "") },
						func() { setNode(t, server, "/t/a/b", "3") },
						func() { deleteNode(t, server, "/t/a/b"); deleteNode(t, server, "/t/a"); deleteNode(t, server, "/t") },
						func() { makeNode(t, server, "/t", ""); deleteNode(t, server, "/t"); makeNode(t, server, "/t", "4") },
					} {
						change()
						if err := c.Sync(t.Context()); err != nil {
							t.Fatal(err)
						}
						if want.wantEqual(t, server, c, nil); t.Failed() {
							t.Fatalf("after change %d", i)
						}
					}
				}, zktest.WithVersion(version))
			})
		}
	}
}

// A source that watches each node reads few of them in a round.
func TestSyncHasWhatIsBelowNodesThatWereJustMade(t *testing.T) {
	for _, version := range bothSources {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/t", "")
			client, link := newClient(t, server)
			c := start(t, client, "/t")
			link.SetLatency(10 * time.Millisecond)
			makeNode(t, server, "/t/a", "")
			for i := range 100 {
				makeNode(t, server, fmt.Sprintf("/t/a/%d", i), "")
			}
			if err := c.Sync(t.Context()); err != nil || c.Len() != 102 {
				t.Errorf("version %s: got %d nodes, %v, want 102", version, c.Len(), err)
			}
		}, zktest.WithVersion(version))
	}
}

func TestSyncHasWhatAFollowerThatLagsDoesNotHaveYet(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		servers := zktest.NewEnsemble(2)
		t.Cleanup(func() { _ = servers.Close() })
		client := dial(t, servers.Addrs()[1], servers.DialContext)
		c := start(t, client, "/t")
		servers.SetLag(1, 3*time.Second)
		makeNode(t, servers.Leader(), "/t", "")
		time.Sleep(time.Second)
		if n := c.Len(); n != 0 {
			t.Errorf("got %d nodes before the follower has them, want 0", n)
		}
		if err := c.Sync(t.Context()); err != nil || c.Len() != 1 {
			t.Errorf("got %v and %d nodes, want 1", err, c.Len())
		}
	})
}
