package cache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

func watches(server *zktest.Server) (list []string) {
	synctest.Wait()
	for _, w := range server.ListWatches() {
		list = append(list, fmt.Sprintf("%v of %s", w.Kind, w.Path))
	}
	return list
}

// Others of the same client stay: a cache of the same root and one of a nested root, and a watch of the node.
func TestCloseLeavesNoWatchAndTakesNoOther(t *testing.T) {
	for _, version := range []string{"3.5", "3.6", "3.8.6", "3.9.5"} {
		for depth := range 2 {
			t.Run(fmt.Sprint(version, " depth ", depth), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					for _, path := range []string{"/t", "/t/a", "/t/a/b"} {
						makeNode(t, server, path, "1")
					}
					client, _ := newClient(t, server)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					var seen string
					go func() {
						for node, err := range client.Watch(ctx, "/t") {
							if err == nil {
								seen = string(node.Data)
							}
						}
					}()
					same, nested := start(t, client, "/t"), start(t, client, "/t/a")
					sameHeard, nestedHeard := subscribe(same), subscribe(nested)
					others := watches(server)

					c := start(t, client, "/t", cache.WithDepth(depth))
					if err := c.Close(); err != nil {
						t.Error(err)
					}
					if got := watches(server); !slices.Equal(got, others) {
						t.Errorf("after Close: got the watches %q, want %q", got, others)
					}
					setNode(t, server, "/t", "2")
					setNode(t, server, "/t/a/b", "2")
					makeNode(t, server, "/t/a/c", "")
					deleteNode(t, server, "/t/a/b")
					synctest.Wait()
					wantEqual(t, server, same, sameHeard, "/t")
					wantEqual(t, server, nested, nestedHeard, "/t/a")
					if seen != "2" {
						t.Errorf("a watch of the root saw %q, want \"2\"", seen)
					}

					requests := server.CountRequests(zktest.Match{Path: "/t/*"})
					_, _ = same.Close(), nested.Close()
					for _, left := range watches(server) {
						if left != "data of /t" && left != "data of /zookeeper/config" {
							t.Errorf("after all caches are closed, a watch remains: %s", left)
						}
					}
					closing := requests()
					setNode(t, server, "/t/a/c", "2")
					time.Sleep(2 * time.Hour)
					if n := requests() - closing; n != 0 {
						t.Errorf("%d requests after all caches were closed, want none", n)
					}
				}, zktest.WithVersion(version))
			})
		}
	}
}

func TestAStartThatFailsLeavesNothingAndMayBeRepeated(t *testing.T) {
	private := zktest.ACL{Perms: 31, Scheme: "digest", ID: "x:x"}
	for name, test := range map[string]struct {
		spoil func(t *testing.T, server *zktest.Server) // before Start
		mend  func(t *testing.T, server *zktest.Server)
		limit time.Duration
		want  error
	}{
		"too many bytes": {
			func(t *testing.T, server *zktest.Server) { setNode(t, server, "/t/a", string(make([]byte, 1000))) },
			func(t *testing.T, server *zktest.Server) { setNode(t, server, "/t/a", "") },
			time.Hour, cache.ErrTooLarge,
		},
		"the root may not be read": {
			func(t *testing.T, server *zktest.Server) { _ = server.SetACL("/t", private) },
			func(t *testing.T, server *zktest.Server) {
				_ = server.SetACL("/t", zktest.ACL{Perms: 31, Scheme: "world", ID: "anyone"})
			},
			time.Hour, zk.ErrNoAuth,
		},
		"its context ends": {
			func(*testing.T, *zktest.Server) {}, func(*testing.T, *zktest.Server) {}, 15 * time.Millisecond, context.DeadlineExceeded,
		},
		"its context ends while the nodes are read": {
			func(*testing.T, *zktest.Server) {}, func(*testing.T, *zktest.Server) {}, 55 * time.Millisecond, context.DeadlineExceeded,
		},
	} {
		for _, version := range bothSources {
			t.Run(name+" "+version, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					makeNode(t, server, "/t", "")
					makeNode(t, server, "/t/a", "")
					for i := range 50 {
						makeNode(t, server, fmt.Sprintf("/t/a/%d", i), "")
					}
					client, link := newClient(t, server)
					start(t, client, "/other") // the client knows which watches the server has
					others := watches(server)
					link.SetLatency(10 * time.Millisecond)
					test.spoil(t, server)
					c := cache.NewCuratorCache(client, "/t", cache.WithMaxBytes(900))
					ctx, cancel := context.WithTimeout(t.Context(), test.limit)
					defer cancel()
					if err := c.Start(ctx); !errors.Is(err, test.want) {
						t.Fatalf("got %v, want %v", err, test.want)
					}
					if n := c.Len(); n != 0 || c.Synced() {
						t.Errorf("%d nodes, synced %v, want none", n, c.Synced())
					}
					time.Sleep(time.Second)
					if got := watches(server); !slices.Equal(got, others) {
						t.Errorf("got the watches %q, want %q", got, others)
					}
					requests := server.CountRequests(zktest.Match{Path: "/t*"})
					setNode(t, server, "/t", "1")
					time.Sleep(2 * time.Hour)
					if n := requests(); n != 0 {
						t.Errorf("%d requests after Start has failed, want none", n)
					}
					test.mend(t, server)
					if err := c.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					wantEqual(t, server, c, nil, "/t")
					_ = c.Close()
					time.Sleep(time.Second)
				}, zktest.WithVersion(version))
			})
		}
	}
}

func TestCloseAndStartAtAnyMomentOfAReadingLeaveNothing(t *testing.T) {
	for _, version := range bothSources {
		for n := int64(1); n < 40; n++ {
			t.Run(fmt.Sprint(version, " ", n), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					for _, path := range []string{"/t", "/t/a", "/t/a/b", "/t/c"} {
						makeNode(t, server, path, "")
					}
					client, link := newClient(t, server)
					link.SetLatency(time.Millisecond)
					c := cache.NewCuratorCache(client, "/t")
					_, stop := strike(server, n, func() { go c.Close() })
					err := c.Start(t.Context())
					if err != nil && !errors.Is(err, cache.ErrClosed) {
						t.Errorf("Start: got %v, want %v", err, cache.ErrClosed)
					}
					time.Sleep(time.Second)
					stop()
					_ = c.Close()
					time.Sleep(time.Second)
					if left := watches(server); len(left) != 0 {
						t.Errorf("watches remain: %q", left)
					}
				}, zktest.WithVersion(version))
			})
		}
	}
}
