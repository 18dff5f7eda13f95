package cache_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// requests are what servers have executed below the root of a cache, or on it.
type requests struct {
	mu  sync.Mutex
	all []string
}

func observe(server *zktest.Server) *requests {
	r := &requests{}
	server.Observe(func(request zktest.Request) {
		if strings.HasPrefix(request.Path, "/t") {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.all = append(r.all, strings.TrimSuffix(request.Op.String(), "2")+" "+request.Path)
		}
	})
	return r
}

// take returns what was asked since the last time, sorted.
func (r *requests) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.all
	r.all = nil
	slices.Sort(taken)
	return taken
}

func (r *requests) want(t *testing.T, want ...string) {
	t.Helper()
	if got := r.take(); !slices.Equal(got, want) {
		t.Errorf("got the requests %q, want %q", got, want)
	}
}

func TestACacheOfATreeReadsEachNodeOnceAndListsEachDirectoryOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		for _, path := range []string{"/t", "/t/a", "/t/a/b", "/t/c"} {
			makeNode(t, server, path, "")
		}
		client, _ := newClient(t, server)
		r := observe(server)
		start(t, client, "/t", cache.WithReadAgain(0))
		r.want(t, "addWatch /t", "getChildren /t", "getChildren /t/a", "getData /t", "getData /t/a", "getData /t/a/b", "getData /t/c")
		setNode(t, server, "/t/a", "1")
		r.want(t, "getData /t/a")
		setNode(t, server, "/t", "1")
		r.want(t, "getData /t")
		makeNode(t, server, "/t/a/d", "")
		r.want(t, "getData /t/a/d")
		deleteNode(t, server, "/t/a/b")
		deleteNode(t, server, "/t/c")
		r.want(t)
	})
}

func TestWhatTheFilterRefusesIsNeitherListedNorRead(t *testing.T) {
	for _, version := range bothSources {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				for _, path := range []string{"/t", "/t/a", "/t/a/b", "/t/no", "/t/no/a", "/t/no/a/b", "/t/a/no", "/t/a/no/a"} {
					makeNode(t, server, path, "")
				}
				client, link := newClient(t, server)
				r := observe(server)
				asked := map[string]bool{}
				c := start(t, client, "/t", cache.WithReadAgain(time.Minute), cache.WithFilter(func(relative string) bool {
					asked[relative] = true
					return !strings.HasSuffix("/"+relative, "/no")
				}))
				e := subscribe(c)
				e.want(t, "created /t", "created /t/a", "created /t/a/b", "synced")
				setNode(t, server, "/t/no", "1")
				setNode(t, server, "/t/no/a/b", "1")
				makeNode(t, server, "/t/no/a/c", "")
				deleteNode(t, server, "/t/a/no/a")
				makeNode(t, server, "/t/c", "")
				makeNode(t, server, "/t/c/no", "")
				makeNode(t, server, "/t/c/no/no", "")
				time.Sleep(2 * time.Minute)
				link.Reset()
				time.Sleep(10 * time.Second)
				e.want(t, "created /t/c", "stale", "synced")
				for _, request := range r.take() {
					if strings.Contains(request, "/no") {
						t.Errorf("the server was asked for %s", request)
					}
				}
				if asked[""] || asked["/t"] {
					t.Error("the filter was asked for the root")
				}
			}, zktest.WithVersion(version))
		})
	}
}

func TestAFilterThatPanicsLeavesTheNodeOutAndIsLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		for _, path := range []string{"/t", "/t/a", "/t/b"} {
			makeNode(t, server, path, "")
		}
		var log warnings
		client, _ := newClient(t, server, log.option())
		c := start(t, client, "/t", cache.WithFilter(func(relative string) bool {
			if relative == "a" {
				panic("never mind")
			}
			return true
		}))
		subscribe(c).want(t, "created /t", "created /t/b", "synced")
		if n := log.count("the filter of a cache"); n != 1 {
			t.Errorf("logged %d times, want once", n)
		}
	})
}

func TestWithoutDataNoDataAreRead(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "1")
		makeNode(t, server, "/t/a", "1")
		client, _ := newClient(t, server)
		r := observe(server)
		c := start(t, client, "/t", cache.WithoutData(), cache.WithReadAgain(time.Minute))
		e := subscribe(c)
		e.want(t, "created /t", "created /t/a", "synced")
		setNode(t, server, "/t/a", "2")
		e.want(t, "changed /t/a")
		time.Sleep(time.Hour)
		for _, request := range r.take() {
			if strings.HasPrefix(request, "getData") {
				t.Errorf("the server was asked for %s", request)
			}
		}
		if n, _ := c.Get("/t/a"); n.Data != nil || n.Stat.Version != 1 {
			t.Errorf("got %q of version %d, want no data of version 1", n.Data, n.Stat.Version)
		}
	})
}

func TestADepthBoundsWhatIsReadAndListed(t *testing.T) {
	for depth, want := range map[int][]string{
		1: {"addWatch /t", "getChildren /t", "getData /t", "getData /t/a"},
		2: {"addWatch /t", "getChildren /t", "getChildren /t/a", "getData /t", "getData /t/a", "getData /t/a/b"},
	} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				for _, path := range []string{"/t", "/t/a", "/t/a/b", "/t/a/b/c", "/t/a/b/c/d"} {
					makeNode(t, server, path, "")
				}
				client, _ := newClient(t, server)
				r := observe(server)
				start(t, client, "/t", cache.WithDepth(depth), cache.WithReadAgain(0))
				r.want(t, want...)
				setNode(t, server, "/t/a/b/c", "")
				deleteNode(t, server, "/t/a/b/c/d")
				makeNode(t, server, "/t/a/b/c/e", "")
				r.want(t)
			})
		})
	}
}

func TestACacheOfOneNodeHasOneWatchAndOneReadForAChange(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		client, _ := newClient(t, server)
		r := observe(server)
		c := start(t, client, "/t", cache.WithDepth(0), cache.WithReadAgain(0))
		r.want(t, "getData /t")
		makeNode(t, server, "/t/a", "")
		r.want(t)
		setNode(t, server, "/t", "1")
		r.want(t, "getData /t")
		if n := server.WatchCount(); n != 1 || c.Len() != 1 {
			t.Errorf("got %d watches and %d nodes, want 1 each", n, c.Len())
		}
	})
}

func TestOptionsThatAreRefusedAreAllNamedByStart(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		c := cache.NewCuratorCache(nil, "t", nil, cache.WithDepth(-1), cache.WithMaxBytes(0), cache.WithReadAgain(-1), cache.WithFilter(nil))
		err := c.Start(t.Context())
		if err == nil {
			t.Fatal("got no error")
		}
		for _, part := range []string{`"t"`, "client is nil", "an option is nil", "WithDepth(-1)", "WithMaxBytes(0)", "WithReadAgain(-1ns)", "WithFilter"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("got %v, want it to name %s", err, part)
			}
		}
		client, _ := newClient(t, server)
		c = cache.NewCuratorCache(client, "/t", cache.WithDepth(0), cache.WithFilter(all))
		if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing to filter") {
			t.Errorf("a filter with a depth of 0: got %v", err)
		}
	})
}
