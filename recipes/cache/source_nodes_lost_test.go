package cache_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/internal/sampletest"
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

// Each node is read and listed once for each connection, by requests that the connection bears, however long that
// takes.
func TestATreeOfManyWatchesIsReadOnceForEachConnection(t *testing.T) {
	const timeout = 4 * time.Second
	scale := sampletest.New(t).Scale(16, 16)
	children := 65_540 / 16 * scale
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		for i := range children {
			makeNode(t, server, fmt.Sprintf("/t/%06d", i), "")
		}
		link := server.NewLink()
		underWay := link.MostUnderWay(zktest.OpGetData, zktest.OpGetChildren2)
		client := dial(t, "zktest:2181", link.DialContext, framework.WithSessionTimeout(timeout))
		link.SetLatency(time.Duration(16/scale) * time.Millisecond)
		var losses atomic.Int32
		defer client.OnStateChange(func(change framework.StateChange) {
			if change.State == framework.StateSuspended {
				losses.Add(1)
			}
		})()
		before := server.Counts()
		reads := func() (n int) {
			now := server.Counts()
			for _, op := range []zktest.Op{zktest.OpGetData, zktest.OpGetChildren2, zktest.OpExists} {
				n += now[op] - before[op]
			}
			before = now
			return n
		}
		c, needed := cache.NewCuratorCache(client, "/t", cache.WithReadAgain(0)), 2*children+1
		began := time.Now()
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if took := time.Since(began); took < 2*timeout {
			t.Errorf("got the tree after %v, the test needs a reading of several session timeouts", took)
		}
		for range 2 {
			if n := reads(); n > needed*6/5 || c.Len() != children+1 || underWay() > 32+1 { // and one of the session
				t.Errorf("got %d nodes by %d reads, %d at a time; want %d, at most %d, %d", c.Len(), n, underWay(), children+1, needed*6/5, 33)
			}
			time.Sleep(10 * timeout)
			if n := reads(); n > 9 {
				t.Errorf("got %d reads in ten session timeouts without a change, want at most 9, of the root", n)
			}
			link.Reset()
			time.Sleep(time.Second)
			if err := c.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 50 {
			makeNode(t, server, fmt.Sprintf("/s%04d", i), "")
		}
		far := server.NewLink()
		slow := far.MostUnderWay(zktest.OpGetData, zktest.OpGetChildren2)
		farClient := dial(t, "zktest:2181", far.DialContext, framework.WithSessionTimeout(timeout))
		far.SetLatency(timeout / 20) // an answer takes more than a sixteenth of the session timeout
		start(t, farClient, "/", cache.WithFilter(func(relative string) bool { return relative[0] == 's' }))
		if got := slow(); got > 2 {
			t.Errorf("got %d reads at a time at a slow server, want at most 2", got)
		}
		if n := c.Stats().Readings; n != 3 || losses.Load() != 2 {
			t.Errorf("got %d readings and %d losses of the connection, want 3 and 2", n, losses.Load())
		}
	}, zktest.WithVersion("3.5.10"))
}
