package cache_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/internal/sampletest"
)

var histories = flag.Int("histories", 5, "how many random histories the cache is compared with, at each kind of servers; each has about 150 operations")

// Random changes and faults at servers of each kind: at each quiet moment the cache and every subscriber have what the
// server has. Nothing is found by reading again but what no event reports.
func TestCacheIsEqualToTheServerAtEveryQuietMoment(t *testing.T) {
	sample := sampletest.New(t, "histories")
	for _, kind := range worlds {
		for _, seed := range sample.Part(*histories, 3) {
			t.Run(fmt.Sprintf("%s/%d", kind, seed), func(t *testing.T) {
				zktest.Bubble(t, func(t *testing.T) {
					newHistory(t, kind, rand.New(rand.NewPCG(uint64(seed), 1))).run()
				})
			})
		}
	}
}

type history struct {
	*world
	client *framework.Client
	cache  *cache.CuratorCache
	heard  []*events

	view       view
	permitting bool // permissions change
	silent     bool // something has changed since the last quiet moment that no event reports
	everSilent bool
	again      bool        // the cache reads again soon
	quiet      atomic.Bool // nothing changes
	lacks      atomic.Bool // a node that was looked at is too large
}

// tooLarge is longer than an answer that the client takes.
var tooLarge = strings.Repeat("x", 5<<10)

func newHistory(t *testing.T, kind string, random *rand.Rand) *history {
	h := &history{world: newWorld(t, kind, random)}
	one := func(choices ...string) string { return choices[random.IntN(len(choices))] }
	connect := strings.Join(h.addrs, ",")
	h.view.base = one("", "", "", "/app", "/app/space")
	clientOptions := []framework.Option{framework.WithMaxResponse(4 << 10)}
	for i, name := range strings.Split(strings.Trim(h.view.base, "/"), "/") {
		if name == "" {
			continue
		}
		makeNode(t, h.server, strings.Join(strings.Split(h.view.base, "/")[:i+2], "/"), "")
		if i == 0 && random.IntN(2) == 0 {
			connect = fmt.Sprint(connect, "/", name)
		} else {
			rest := strings.Join(strings.Split(h.view.base, "/")[i+1:], "/")
			clientOptions = append(clientOptions, framework.WithNamespace(rest))
			break
		}
	}
	h.client = dial(t, connect, h.DialContext, clientOptions...)
	t.Cleanup(h.calm) // before the client is closed
	h.view.root = one("/t", "/t", "/t", "/t/a", "/")
	h.cache = cache.NewCuratorCache(h.client, h.view.root, h.options()...)
	for range random.IntN(30) {
		h.change()
	}
	h.subscribe()
	t.Cleanup(func() {
		_ = h.cache.Close()
		time.Sleep(time.Second) // slow subscribers
	})
	err := h.cache.Start(t.Context())
	if errors.Is(err, framework.ErrTooLarge) {
		h.remove(h.view.base + "/t")
		h.heard = nil // the loops have ended
		h.subscribe()
		err = h.cache.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *history) options() (opts []cache.Option) {
	depth, filter := h.rand.IntN(5), h.rand.IntN(3) == 0
	if depth < 4 {
		opts = append(opts, cache.WithDepth(depth))
		filter = filter && depth > 0
	}
	if filter {
		opts = append(opts, cache.WithFilter(func(relative string) bool { return !strings.HasSuffix(relative, "b") }))
	}
	if h.view.noData = h.rand.IntN(4) == 0; h.view.noData {
		opts = append(opts, cache.WithoutData())
	}
	h.permitting = h.rand.IntN(2) == 0 && !h.view.noData
	switch h.rand.IntN(3) {
	case 0:
		opts, h.again = append(opts, cache.WithReadAgain(5*time.Second)), true
	case 1:
		opts = append(opts, cache.WithReadAgain(0))
	}
	h.view.keep = func(path string) bool {
		relative := h.view.relative(path)
		deep := strings.Count(relative, "/") + 1
		kept := (depth == 4 || deep <= depth) && (!filter || !strings.HasSuffix(relative, "b"))
		return relative == "" || kept && h.readable(path)
	}
	return opts
}

// readable reports whether an answer has the node. Without one that is too large, the cache is not complete.
func (h *history) readable(path string) bool {
	data, _ := h.server.Data(path)
	large := !h.view.noData && len(data) >= len(tooLarge)
	if large && !h.closed[path] {
		h.lacks.Store(true)
	}
	return !h.closed[path] && !large
}

func (h *history) run() {
	for range 30 {
		for range 1 + h.rand.IntN(8) {
			h.change()
			if h.rand.IntN(12) == 0 {
				h.subscribe()
			}
			h.disturb()
		}
		h.settle()
		h.lacks.Store(false)
		for _, e := range h.heard {
			h.view.wantEqual(h.t, h.server, h.cache, e)
		}
		if complete := !h.lacks.Load(); h.cache.Synced() != complete || (h.cache.Err() == nil) != complete {
			h.t.Errorf("got synced %v, error %v of a cache that may be complete: %v", h.cache.Synced(), h.cache.Err(), complete)
		}
		if found := h.cache.Stats().Found; found > 0 && !h.everSilent && !h.wrongPaths {
			h.t.Errorf("%d changes were found that no event has reported, want none", found)
		}
		h.quiet.Store(false)
		if h.t.Failed() {
			h.t.Logf("cache of %s at %s, after %q", h.view.root, h.view.base, h.done)
			return
		}
	}
	if err := h.cache.Close(); err != nil {
		h.t.Error(err)
	}
	time.Sleep(time.Second) // the link has a latency
	if left := h.watches(); len(left) != 0 && h.removes {
		h.t.Errorf("watches remain: %q", left)
	}
}

// settle waits until the cache must have everything.
func (h *history) settle() {
	h.calm()
	if h.silent && !h.again {
		h.path().Reset() // so that the whole tree is read
	} else if !h.silent {
		if h.ensemble == nil && h.rand.IntN(3) == 0 {
			h.path().Cut()
			synctest.Wait()
			h.quiet.Store(true) // from here on all readings are of what there is now
			h.path().Heal()
		}
		ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
		defer cancel()
		if h.rand.IntN(3) == 0 && h.cache.Sync(ctx) == nil {
			h.view.wantEqual(h.t, h.server, h.cache, nil)
		}
	}
	h.did("quiet")
	h.silent = false
	time.Sleep(30 * time.Second)
	synctest.Wait()
}

// subscribe adds a subscriber: a function or a loop, of which some are slow.
func (h *history) subscribe() {
	e := newEvents()
	h.heard = append(h.heard, e)
	var pause time.Duration
	if h.rand.IntN(3) == 0 {
		pause = time.Duration(h.rand.IntN(100)) * time.Millisecond
	}
	hear := func(event cache.Event) {
		time.Sleep(pause)
		e.hear(event)
		if event.Kind == cache.Synced && pause == 0 && h.quiet.Load() {
			h.view.wantHeard(h.t, h.server, e)
		}
	}
	if h.rand.IntN(2) == 0 {
		h.cache.OnEvent(hear)
		return
	}
	go func() {
		for errors.Is(h.cache.Err(), cache.ErrNotStarted) {
			time.Sleep(time.Millisecond)
		}
		for event, err := range h.cache.Events(context.WithoutCancel(h.t.Context())) {
			if err != nil {
				if !errors.Is(err, cache.ErrClosed) && !errors.Is(err, cache.ErrNotStarted) {
					h.t.Errorf("a loop over the events ended with %v, want %v", err, cache.ErrClosed)
				}
				return
			}
			hear(event)
		}
	}()
}

func (h *history) did(format string, args ...any) {
	h.done = append(h.done, fmt.Sprintf(format, args...))
}

// change makes, sets or deletes a node, or changes who may read it.
func (h *history) change() {
	names := []string{h.view.base, "t"}
	for range h.rand.IntN(4) {
		names = append(names, string(rune('a'+h.rand.IntN(3))))
	}
	path, data := strings.Join(names, "/"), fmt.Append(nil, h.rand.IntN(10))
	if h.rand.IntN(30) == 0 && h.view.relative(path) != "" {
		data = []byte(tooLarge)
	}
	if before, _ := h.server.Data(path); len(data) >= len(tooLarge) || len(before) >= len(tooLarge) {
		h.silent, h.everSilent = true, true // a watch of its own ends with such an answer
	}
	op := h.rand.IntN(5)
	h.did("%d %s %.2s", op, path, data)
	switch op {
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
	case 3:
		if h.permitting && h.rand.IntN(4) == 0 && h.view.relative(path) != "" {
			h.permit(path)
			return
		}
		fallthrough
	default:
		_ = h.server.Create(path, data)
	}
}

func (h *history) permit(path string) {
	acl := zktest.ACL{Perms: 31, Scheme: "world", ID: "anyone"}
	if !h.closed[path] {
		acl = zktest.ACL{Perms: 31, Scheme: "digest", ID: "x:x"}
	}
	if h.server.SetACL(path, acl) == nil {
		h.closed[path] = !h.closed[path]
		h.did("closed %v", h.closed[path])
		h.silent, h.everSilent = true, true
	}
}

func (h *history) remove(path string) {
	for _, name := range h.server.Children(path) {
		h.remove(path + "/" + name)
	}
	if h.server.Delete(path) == nil && h.closed[path] {
		h.silent, h.everSilent = true, true // servers withhold the event, and no watch of its own is left
		delete(h.closed, path)
	}
}
