package cache_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
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

func TestStartWaitsForANodeThatIsListedTwiceBeforeItIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		makeNode(t, server, "/t/a", "1")
		client, _ := newClient(t, server)
		for i := range 5 {
			server.ThrottleRequest(zktest.Match{Op: zktest.OpGetData, Path: "/t/a", Nth: i + 1})
		}
		c := cache.NewCuratorCache(client, "/t")
		t.Cleanup(func() { _ = c.Close() })
		started := make(chan error, 1)
		go func() { started <- c.Start(t.Context()) }()
		synctest.Wait() // the session pauses before it asks for /t/a again
		makeNode(t, server, "/t/b", "")
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Get("/t/a"); !ok {
			t.Errorf("/t/a is missing after Start, have %d nodes", c.Len())
		}
	}, zktest.WithVersion("3.5"))
}

// A loop that looked again at once would have no pause in which the time of the bubble goes on.
func TestWatchesThatShowTwoNodesOfOnePathAreReadAgainNotLookedAtInALoop(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		makeNode(t, server, "/t/a", "1")
		makeNode(t, server, "/t/a/b", "1")
		client, link := newClient(t, server)
		link.SetLatency(300 * time.Millisecond)
		c := start(t, client, "/t")
		hear := server.DropEvents(zktest.Match{Path: "/t*"})
		deleteNode(t, server, "/t/a/b")
		deleteNode(t, server, "/t/a")
		makeNode(t, server, "/t/a", "2")
		makeNode(t, server, "/t/a/c", "2")
		time.Sleep(time.Second)
		hear()
		time.Sleep(time.Hour)
		wantEqual(t, server, c, nil, "/t")
	}, zktest.WithVersion("3.5"))
}

func TestALostConnectionShowsWhileANodeIsReadAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		client, link := newClient(t, server)
		c := start(t, client, "/t", cache.WithDepth(0), cache.WithReadAgain(time.Minute))
		e := subscribe(c)
		e.want(t, "created /t", "synced")
		time.Sleep(59 * time.Second)
		release := server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Nth: 2}) // behind that of the watch
		time.Sleep(2 * time.Second)
		link.Cut()
		e.want(t, "stale")
		release()
		setNode(t, server, "/t", "2")
		link.Heal()
		time.Sleep(time.Minute)
		e.want(t, "changed /t=2", "synced")
	})
}

// The follower stands in the filter from before the loss until the watches have answered on the next connection.
func TestSyncedAfterALostConnectionComesBehindWhatWasMadeMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		client, link := newClient(t, server)
		goOn := make(chan struct{})
		c := start(t, client, "/t", cache.WithFilter(func(relative string) bool {
			if relative == "a" {
				<-goOn
			}
			return true
		}))
		e := subscribe(c)
		e.want(t, "created /t", "synced")
		makeNode(t, server, "/t/a", "")
		synctest.Wait()
		link.Cut()
		e.want(t, "stale")
		makeNode(t, server, "/t/b", "")
		link.Heal()
		time.Sleep(sessionTimeout / 2)
		link.SetLatency(10 * time.Millisecond)
		close(goOn)
		time.Sleep(time.Second)
		e.want(t, "created /t/a", "created /t/b", "synced")
	}, zktest.WithVersion("3.5"))
}

// A parent and its child are deleted and created again, and both are read in one round: the answer about the parent
// ends the watch on the old child, which is the new one's as well. The follower stands in the filter until both were
// heard of.
func TestChildThatIsReadWithItsNewParentIsWatchedAtOldServers(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		for _, path := range []string{"/t", "/t/p", "/t/p/c"} {
			makeNode(t, server, path, "1")
		}
		client, _ := newClient(t, server)
		goOn := make(chan struct{})
		c := start(t, client, "/t", cache.WithFilter(func(relative string) bool {
			if relative == "a" {
				<-goOn
			}
			return relative != "a"
		}))
		e := subscribe(c)
		e.want(t, "created /t=1", "created /t/p=1", "created /t/p/c=1", "synced")
		makeNode(t, server, "/t/a", "")
		synctest.Wait()
		deleteNode(t, server, "/t/p/c")
		deleteNode(t, server, "/t/p")
		makeNode(t, server, "/t/p", "2")
		makeNode(t, server, "/t/p/c", "2")
		synctest.Wait()
		close(goOn)
		e.want(t, "deleted /t/p/c=1", "deleted /t/p=1", "created /t/p=2", "created /t/p/c=2")
		setNode(t, server, "/t/p/c", "3")
		e.want(t, "changed /t/p/c=3")
	}, zktest.WithVersion("3.5"))
}

func TestACacheWithoutDataLacksNoNodeWhoseDataCannotBeReadWithItsWatch(t *testing.T) {
	large := strings.Repeat("x", 5<<10)
	for depth, path := range []string{"/t", "/t/a"} {
		for _, perms := range []int32{zk.PermAll, zk.PermAll &^ zk.PermRead} {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				client, link := newClient(t, server, framework.WithMaxResponse(4<<10))
				_ = server.Create("/t", nil)
				c := start(t, client, "/t", cache.WithoutData(), cache.WithDepth(depth), cache.WithReadAgain(time.Minute))
				e := subscribe(c)
				e.want(t, "created /t", "synced")
				for range 2 {
					_ = server.Create(path, nil)
					_ = server.SetACL(path, zktest.ACL{Perms: perms, Scheme: "world", ID: "anyone"})
					synctest.Wait()
					e.heard = nil
					setNode(t, server, path, large)
					e.want(t, "changed "+path)
					link.Reset()
					time.Sleep(time.Second)
					e.want(t, "stale", "synced")
					setNode(t, server, path, large)
					e.want(t, "changed "+path)
					time.Sleep(15 * time.Minute) // the session reads the watched node again ever later
					server.DropEvent(zktest.Match{Path: path})
					setNode(t, server, path, large)
					time.Sleep(2 * time.Minute)
					e.want(t, "changed "+path)
					setNode(t, server, path, large) // its watch was set again
					e.want(t, "changed "+path)
					deleteNode(t, server, path)
					e.want(t, "deleted "+path)
				}
				if stats := c.Stats(); stats.Found != 2 || stats.Unreadable > 0 || c.Err() != nil || !c.Synced() {
					t.Errorf("got %+v, error %v, want the two lost events found, nothing unreadable, and none", stats, c.Err())
				}
			}, zktest.WithVersion("3.5"))
		}
	}
}
