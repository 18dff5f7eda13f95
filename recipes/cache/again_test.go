package cache_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/internal/sampletest"
)

// The first version watches single nodes, the second a tree.
var bothSources = []string{"3.5", "3.9.5"}

func TestALostEventIsFoundInTimeAndCountedAndLoggedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, server *zktest.Server)
		heard  []string
	}{
		"data":          {func(t *testing.T, server *zktest.Server) { setNode(t, server, "/t/a", "2") }, []string{"changed /t/a=2"}},
		"root's data":   {func(t *testing.T, server *zktest.Server) { setNode(t, server, "/t", "2") }, []string{"changed /t=2"}},
		"created":       {func(t *testing.T, server *zktest.Server) { makeNode(t, server, "/t/c", "2") }, []string{"created /t/c=2"}},
		"created below": {func(t *testing.T, server *zktest.Server) { makeNode(t, server, "/t/a/b", "2") }, []string{"created /t/a/b=2"}},
		"deleted":       {func(t *testing.T, server *zktest.Server) { deleteNode(t, server, "/t/a") }, []string{"deleted /t/a=1"}},
		"replaced": {func(t *testing.T, server *zktest.Server) {
			deleteNode(t, server, "/t/a")
			makeNode(t, server, "/t/a", "1")
		}, []string{"deleted /t/a=1", "created /t/a=1"}},
	} {
		for _, version := range bothSources {
			t.Run(name+" "+version, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					makeNode(t, server, "/t", "1")
					makeNode(t, server, "/t/a", "1")
					var log warnings
					client, _ := newClient(t, server, log.option())
					const every = 4 * time.Second
					c := start(t, client, "/t", cache.WithReadAgain(every))
					e := subscribe(c)
					e.want(t, "created /t=1", "created /t/a=1", "synced")
					hearAgain := server.DropEvents(zktest.Match{})
					test.change(t, server)
					time.Sleep(10 * time.Millisecond)
					e.want(t)
					hearAgain()
					time.Sleep(every + time.Second)
					e.want(t, test.heard...)
					wantEqual(t, server, c, e, "/t")
					time.Sleep(3 * every)
					if n, logged := c.Stats().Found, log.count("no event has reported it"); n != 1 || logged != 1 {
						t.Errorf("found %d and logged %d, want 1 each", n, logged)
					}
					_ = server.Create("/t/a/x", nil) // an error if /t/a was deleted
					makeNode(t, server, "/t/x", "")
					setNode(t, server, "/t", "3")
					time.Sleep(10 * time.Millisecond)
					wantEqual(t, server, c, e, "/t") // by events
				}, zktest.WithVersion(version))
			})
		}
	}
}

// Each change is on its way while some node is read again, and the answer may be before its event's round.
func TestNothingIsFoundThatAnEventHasReported(t *testing.T) {
	sample := sampletest.New(t)
	for _, version := range bothSources {
		for _, seed := range sample.Part(4, 3) {
			t.Run(fmt.Sprint(version, " ", seed), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					random := rand.New(rand.NewPCG(uint64(seed), 3))
					var log warnings
					client, link := newClient(t, server, log.option())
					makeNode(t, server, "/t", "")
					c := start(t, client, "/t", cache.WithReadAgain(20*time.Millisecond))
					link.SetLatency(3 * time.Millisecond)
					for range 1000 {
						path := fmt.Sprintf("/t/%d", random.IntN(3))
						if random.IntN(2) == 0 {
							path += fmt.Sprintf("/%d", random.IntN(2))
						}
						switch random.IntN(30) {
						case 0:
							link.Reset()
						case 1, 2, 3, 4, 5, 6, 7, 8, 9:
							_ = server.SetData(path, nil)
						case 10, 11, 12, 13, 14, 15, 16, 17, 18, 19:
							_ = server.Delete(path)
						default:
							_ = server.Create(path, nil)
						}
						time.Sleep(time.Duration(random.IntN(8000)) * time.Microsecond)
					}
					time.Sleep(time.Minute)
					wantEqual(t, server, c, nil, "/t")
					if n := c.Stats().Found; n != 0 {
						t.Errorf("found %d, want 0: %s", n, log.log.String())
					}
				}, zktest.WithVersion(version))
			})
		}
	}
}

func TestWhatMayNotBeReadIsNotFoundEachTimeThatItIsListed(t *testing.T) {
	for _, version := range bothSources {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			makeNode(t, server, "/t", "")
			makeNode(t, server, "/t/a", "")
			if err := server.SetACL("/t/a", zktest.ACL{Perms: 31, Scheme: "digest", ID: "x:x"}); err != nil {
				t.Fatal(err)
			}
			client, _ := newClient(t, server)
			c := start(t, client, "/t", cache.WithReadAgain(time.Minute))
			time.Sleep(time.Hour)
			if got := c.Stats(); got.Found != 0 || got.Unreadable != 1 {
				t.Errorf("version %s: found %d with %d unreadable, want 0 and 1", version, got.Found, got.Unreadable)
			}
		}, zktest.WithVersion(version))
	}
}

func TestTheTreeIsReadAgainOneRequestAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		for depth := range 20 { // a node below the other, so that the first reading has one request at a time, too
			makeNode(t, server, strings.Repeat("/t", depth+1), "")
		}
		link := server.NewLink()
		link.SetLatency(10 * time.Millisecond)
		most := link.MostUnderWay(zktest.OpGetData, zktest.OpGetChildren, zktest.OpGetChildren2, zktest.OpExists)
		start(t, dial(t, "zktest:2181", link.DialContext), "/t", cache.WithReadAgain(time.Hour))
		reads, lists := server.CountRequests(zktest.Match{Op: zktest.OpGetData}), server.CountRequests(zktest.Match{Op: zktest.OpGetChildren2})
		time.Sleep(10*time.Hour + time.Minute)
		if m, n, l := most(), reads(), lists(); m != 1 || n < 200 || n > 211 || l < 190 || l > 200 {
			t.Errorf("in ten hours 20 nodes were read %d times and listed %d times, %d at a time, want 200 and 190, 1 at a time", n, l, m)
		}
	})
}

func TestNothingIsReadAgainIfThatIsOff(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		client, _ := newClient(t, server)
		start(t, client, "/t", cache.WithReadAgain(0))
		requests := server.CountRequests(zktest.Match{Path: "/t*"})
		time.Sleep(12 * time.Hour)
		if n := requests(); n != 0 {
			t.Errorf("got %d requests, want none", n)
		}
	})
}

// No event reports that permissions change (hard for any cache): the reading does, both ways.
func TestANodeThatMayNotBeReadAnyMoreIsDeletedAndCreatedWhenItMay(t *testing.T) {
	for _, version := range []string{"3.5", "3.8.3", "3.9.5"} {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				for _, path := range []string{"/t", "/t/a", "/t/a/b"} {
					makeNode(t, server, path, "1")
				}
				var log warnings
				client, _ := newClient(t, server, log.option())
				c := start(t, client, "/t", cache.WithReadAgain(time.Minute))
				e := subscribe(c)
				e.want(t, "created /t=1", "created /t/a=1", "created /t/a/b=1", "synced")
				permit := func(id string) {
					scheme, name, _ := strings.Cut(id, " ")
					if err := server.SetACL("/t/a", zktest.ACL{Perms: 31, Scheme: scheme, ID: name}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute + time.Second)
				}
				for i := range 2 {
					permit("digest x:x")
					e.want(t, "deleted /t/a/b=1", "deleted /t/a=1")
					if n, logged := c.Stats().Unreadable, log.count("cannot be read"); n != 1 || logged != i+1 {
						t.Errorf("%d are unreadable, which was logged %d times, want 1 and %d", n, logged, i+1)
					}
					setNode(t, server, "/t/a/b", "1")
					permit("world anyone")
					e.want(t, "created /t/a=1", "created /t/a/b=1")
					if n := c.Stats().Unreadable; n != 0 {
						t.Errorf("%d are unreadable, want none", n)
					}
				}
				setNode(t, server, "/t/a", "2")
				e.want(t, "changed /t/a=2")
				permit("digest x:x")
				e.want(t, "deleted /t/a/b=1", "deleted /t/a=2")
				deleteNode(t, server, "/t/a/b")
				deleteNode(t, server, "/t/a")
				time.Sleep(time.Minute + time.Second)
				if n := c.Stats().Unreadable; n != 0 {
					t.Errorf("%d are unreadable after their deletion, want none", n)
				}
				wantEqual(t, server, c, e, "/t")
			}, zktest.WithVersion(version))
		})
	}
}
