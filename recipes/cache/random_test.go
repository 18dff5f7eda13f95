package cache_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

var histories = flag.Int("histories", 60, "how many random histories the cache is compared with")

// Random changes, cuts, ended sessions and late subscribers: at each quiet moment the cache and every subscriber have
// what the server has.
func TestCacheIsEqualToTheServerAtEveryQuietMoment(t *testing.T) {
	for seed := range *histories {
		for _, version := range []string{"3.5", "3.8.6", "3.9.5"} {
			t.Run(fmt.Sprintf("%s/%d", version, seed), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					newHistory(t, server, uint64(seed)).run()
				}, zktest.WithVersion(version))
			})
		}
	}
}

type history struct {
	t      *testing.T
	server *zktest.Server
	rand   *rand.Rand
	client *framework.Client
	link   *zktest.Link
	cache  *cache.CuratorCache
	keep   func(path string) bool
	heard  []*events
}

func newHistory(t *testing.T, server *zktest.Server, seed uint64) *history {
	h := &history{t: t, server: server, rand: rand.New(rand.NewPCG(seed, 1)), keep: all}
	h.client, h.link = newClient(t, server)
	for range h.rand.IntN(30) {
		h.change()
	}
	var opts []cache.Option
	depth := h.rand.IntN(4)
	if depth < 3 {
		opts = append(opts, cache.WithDepth(depth))
	}
	filter := h.rand.IntN(3) == 0 && depth > 0
	if filter {
		opts = append(opts, cache.WithFilter(func(relative string) bool { return !strings.HasSuffix(relative, "b") }))
	}
	h.keep = func(path string) bool {
		relative := strings.TrimPrefix(path, "/t")
		return (depth == 3 || strings.Count(relative, "/") <= depth) && !(filter && strings.HasSuffix(relative, "b"))
	}
	h.cache = cache.NewCuratorCache(h.client, "/t", opts...)
	h.heard = append(h.heard, subscribe(h.cache))
	if err := h.cache.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *history) run() {
	for range 30 {
		for range 1 + h.rand.IntN(8) {
			h.change()
			h.disturb()
		}
		h.link.Heal()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		for _, e := range h.heard {
			view{root: "/t", keep: h.keep}.wantEqual(h.t, h.server, h.cache, e)
		}
		if !h.cache.Synced() {
			h.t.Errorf("not synced: %v", h.cache.Err())
		}
		if h.t.Failed() {
			return
		}
	}
	if err := h.cache.Close(); err != nil {
		h.t.Error(err)
	}
	time.Sleep(time.Second) // the link has a latency
	if n := h.server.WatchCount(); n != 0 {
		h.t.Errorf("%d watches remain", n)
	}
}

// change makes, sets or deletes a node.
func (h *history) change() {
	path := "/t"
	for range h.rand.IntN(4) {
		path += "/" + string(rune('a'+h.rand.IntN(3)))
	}
	switch data := []byte(fmt.Sprint(h.rand.IntN(10))); h.rand.IntN(4) {
	case 0:
		_ = h.server.SetData(path, data)
	case 1:
		h.remove(path)
	case 2:
		if h.server.Exists(path) {
			data, _ = h.server.Data(path)
			h.remove(path)
		}
		_ = h.server.Create(path, data)
	default:
		_ = h.server.Create(path, data)
	}
}

func (h *history) remove(path string) {
	for _, name := range h.server.Children(path) {
		h.remove(path + "/" + name)
	}
	_ = h.server.Delete(path)
}

func (h *history) disturb() {
	switch h.rand.IntN(12) {
	case 0:
		h.link.Cut()
	case 1:
		h.link.Heal()
	case 2:
		h.link.Reset()
	case 3:
		if s, err := h.client.Session(cancelled(h.t)); err == nil {
			h.server.ExpireSession(s.ID())
		}
	case 4:
		h.heard = append(h.heard, subscribe(h.cache))
	case 5:
		time.Sleep(time.Duration(h.rand.IntN(20)) * time.Second)
	case 6:
		h.link.SetLatency(time.Duration(h.rand.IntN(50)) * time.Millisecond)
	case 7, 8:
		time.Sleep(time.Duration(h.rand.IntN(50)) * time.Millisecond)
	default:
	}
}
