package cache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// listen has e hear what a loop over the events hears, until the cache is closed.
func listen(t *testing.T, c *cache.CuratorCache, e *events, pause time.Duration) {
	go func() {
		for errors.Is(c.Err(), cache.ErrNotStarted) {
			time.Sleep(time.Millisecond)
		}
		for event, err := range c.Events(context.WithoutCancel(t.Context())) {
			if err == nil {
				time.Sleep(pause)
				e.hear(event)
			}
		}
	}()
}

func TestASubscriberOfAnyMomentEndsEqualToOneFromTheStart(t *testing.T) {
	for _, version := range bothSources {
		for seed := range 3 {
			t.Run(fmt.Sprint(version, " ", seed), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					random := rand.New(rand.NewPCG(uint64(seed), 5))
					client, link := newClient(t, server)
					link.SetLatency(2 * time.Millisecond)
					c := cache.NewCuratorCache(client, "/t")
					var all []*events
					add := func() {
						for _, pause := range []time.Duration{0, 30 * time.Millisecond} {
							looping, called := newEvents(), newEvents()
							all = append(all, looping, called)
							listen(t, c, looping, pause)
							c.OnEvent(func(event cache.Event) { time.Sleep(pause); called.hear(event) })
						}
					}
					add()
					if err := c.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					for range 100 {
						switch path := fmt.Sprintf("/t/%d", random.IntN(3)); random.IntN(10) {
						case 0:
							link.Reset()
						case 1:
							for _, session := range server.Sessions() {
								server.ExpireSession(session.ID)
							}
						case 2, 3:
							_ = server.SetData(path, nil)
						case 4, 5:
							_ = server.Delete(path)
						case 6:
							_ = server.Delete("/t")
						default:
							_ = server.Create("/t", nil)
							_ = server.Create(path, nil)
						}
						time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond)
						add()
					}
					time.Sleep(30 * time.Second)
					for _, e := range all {
						wantEqual(t, server, c, e, "/t")
					}
					if err := c.Close(); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Second)
				}, zktest.WithVersion(version))
			})
		}
	}
}

func TestASubscriberThatIsSlowGetsTheDifferencesOfEachNodeMerged(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		for _, path := range []string{"/t", "/t/a", "/t/b", "/t/c"} {
			makeNode(t, server, path, "")
		}
		client, link := newClient(t, server)
		c := start(t, client, "/t")
		e, blocked := newEvents(), make(chan struct{})
		c.OnEvent(func(event cache.Event) {
			e.hear(event)
			if event.Kind == cache.Synced {
				<-blocked
			}
		})
		e.want(t, "created /t", "created /t/a", "created /t/b", "created /t/c", "synced")
		for i := range 100 {
			setNode(t, server, "/t/a", fmt.Sprint(i))
			makeNode(t, server, "/t/x", "")
			synctest.Wait()
			deleteNode(t, server, "/t/x")
			synctest.Wait()
		}
		deleteNode(t, server, "/t/b")
		makeNode(t, server, "/t/b", "")
		deleteNode(t, server, "/t/c")
		link.Reset()
		time.Sleep(5 * time.Second)
		e.want(t)
		blocked <- struct{}{}
		e.want(t, "deleted /t/c", "deleted /t/b", "changed /t/a=99", "created /t/b")
		link.Cut()
		e.want(t, "stale")
	})
}

func TestASubscriberThatIsBlockedCostsNoMemoryForEachChange(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		client, _ := newClient(t, server)
		c := start(t, client, "/t")
		done := make(chan struct{})
		c.OnEvent(func(cache.Event) { <-done })
		go func() {
			for range c.Events(context.WithoutCancel(t.Context())) {
				<-done
			}
		}()
		heap := func() uint64 {
			synctest.Wait()
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return stats.HeapAlloc
		}
		const size = 100 << 10
		data := string(make([]byte, size))
		setNode(t, server, "/t", data)
		before := heap()
		for range 200 {
			setNode(t, server, "/t", data)
			synctest.Wait()
		}
		if grown := int64(heap() - before); grown > 20*size {
			t.Errorf("after 200 changes of %d bytes the heap has grown by %d bytes, want less than 20 of them", size, grown)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		close(done)
	})
}

func TestAFunctionMayCloseTheCacheThatCallsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		makeNode(t, server, "/t/a", "")
		client, _ := newClient(t, server)
		c := cache.NewCuratorCache(client, "/t")
		var calls, rounds int
		c.OnEvent(func(cache.Event) {
			calls++
			_ = c.Close()
		})
		release := server.HoldRequest(zktest.Match{Op: zktest.OpGetData, Path: "/t/a"}) // so that Start waits meanwhile
		if err := c.Start(t.Context()); !errors.Is(err, cache.ErrClosed) {
			t.Errorf("Start: got %v, want %v", err, cache.ErrClosed)
		}
		release()
		again := start(t, client, "/t")
		var err error
		for _, err = range again.Events(t.Context()) {
			rounds++
			_ = again.Close()
		}
		time.Sleep(time.Second)
		if calls != 1 || rounds != 2 || !errors.Is(err, cache.ErrClosed) {
			t.Errorf("got %d calls and %d rounds of the loop, the last with %v, want 1, 2 and %v", calls, rounds, err, cache.ErrClosed)
		}
		if left := server.ListWatches(); len(left) != 0 {
			t.Errorf("watches remain: %v", left)
		}
	})
}

// Druid's announcements have nested inventories.
func TestAFunctionMayStartAnotherCacheAndWaitForIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		for _, path := range []string{"/t", "/t/a", "/t/a/b", "/t/c"} {
			makeNode(t, server, path, "")
		}
		client, _ := newClient(t, server)
		outer := cache.NewCuratorCache(client, "/t", cache.WithDepth(1))
		var inner []string
		outer.OnEvent(func(event cache.Event) {
			if event.Kind != cache.Created {
				return
			}
			c := cache.NewCuratorCache(client, event.New.Path)
			if err := c.Start(t.Context()); err != nil {
				t.Error(err)
			}
			defer func() { _ = c.Close() }()
			inner = append(inner, fmt.Sprintf("%s %d", event.New.Path, c.Len()))
		})
		if err := outer.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = outer.Close() }()
		synctest.Wait()
		if want := []string{"/t 4", "/t/a 2", "/t/c 1"}; !slices.Equal(inner, want) {
			t.Errorf("got %q, want %q", inner, want)
		}
	})
}

func TestALoopOverEventsEndsWithItsReason(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(client *framework.Client, server *zktest.Server, c *cache.CuratorCache, cancel func())
		want error
	}{
		"its context": {func(_ *framework.Client, _ *zktest.Server, _ *cache.CuratorCache, cancel func()) { cancel() }, context.Canceled},
		"Close":       {func(_ *framework.Client, _ *zktest.Server, c *cache.CuratorCache, _ func()) { _ = c.Close() }, cache.ErrClosed},
		"the client":  {func(client *framework.Client, _ *zktest.Server, _ *cache.CuratorCache, _ func()) { _ = client.Close() }, framework.ErrClosed},
		"too many bytes": {func(_ *framework.Client, server *zktest.Server, _ *cache.CuratorCache, _ func()) {
			_ = server.SetData("/t", make([]byte, 100))
		}, cache.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				makeNode(t, server, "/t", "")
				client, _ := newClient(t, server)
				c := start(t, client, "/t", cache.WithMaxBytes(50))
				called := subscribe(c)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var got []error
				go func() {
					for _, err := range c.Events(ctx) {
						got = append(got, err)
					}
				}()
				called.want(t, "created /t", "synced")
				test.end(client, server, c, cancel)
				synctest.Wait()
				if len(got) != 3 || got[1] != nil || !errors.Is(got[2], test.want) {
					t.Errorf("got the errors %v, want two that are nil, and %v", got, test.want)
				}
				switch test.want {
				case cache.ErrTooLarge, framework.ErrClosed:
					called.want(t, "stale") // the cache has ended by itself
				default:
					called.want(t)
				}
			})
		})
	}
}

func TestACacheThatIsStartedAgainSaysStaleOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "1")
		client, _ := newClient(t, server)
		c := start(t, client, "/t", cache.WithMaxBytes(51))
		e := subscribe(c)
		e.want(t, "created /t=1", "synced")
		setNode(t, server, "/t", fmt.Sprintf("%050d", 1))
		e.want(t, "stale")
		setNode(t, server, "/t", fmt.Sprintf("%049d", 2)) // with the path, as much as is allowed
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantEqual(t, server, c, e, "/t")
	})
}

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
