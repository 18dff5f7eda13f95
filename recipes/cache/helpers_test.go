package cache_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/retry"
)

const sessionTimeout = 10 * time.Second

// inBubble runs a test with a server of its own. A goroutine, a watch or a connection that is left at its end is an
// error.
func inBubble(t *testing.T, test func(t *testing.T, server *zktest.Server), opts ...zktest.Option) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) { test(t, zktest.New(t, opts...)) })
}

// newClient makes a client over a path of its own.
func newClient(t *testing.T, server *zktest.Server, opts ...framework.Option) (*framework.Client, *zktest.Link) {
	t.Helper()
	link := server.NewLink()
	client := dial(t, "zktest:2181", link.DialContext, opts...)
	t.Cleanup(link.Heal) // before the client is closed
	return client, link
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

func dial(t *testing.T, connect string, dialer dialer, opts ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(connect, append([]framework.Option{
		framework.WithDialer(dialer), framework.WithSessionTimeout(sessionTimeout),
		framework.WithRetryPolicy(retry.NTimes(5, 10*time.Millisecond)),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if err := client.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	return client
}

// A warnings is a log.
type warnings struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (w *warnings) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(line)
}

func (w *warnings) option() framework.Option {
	return framework.WithLogger(slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})))
}

func (w *warnings) count(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.log.String(), text)
}

// start starts a cache, and closes it at the end of the test.
func start(t *testing.T, client *framework.Client, path string, opts ...cache.Option) *cache.CuratorCache {
	t.Helper()
	c := cache.NewCuratorCache(client, path, opts...)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	synctest.Wait()
	return c
}

func makeNode(t *testing.T, server *zktest.Server, path, data string) {
	t.Helper()
	if err := server.Create(path, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func setNode(t *testing.T, server *zktest.Server, path, data string) {
	t.Helper()
	if err := server.SetData(path, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func deleteNode(t *testing.T, server *zktest.Server, path string) {
	t.Helper()
	if err := server.Delete(path); err != nil {
		t.Fatal(err)
	}
}

// events is a subscriber that remembers, and keeps a copy of the cache by events alone.
type events struct {
	mu     sync.Mutex
	heard  []string
	nodes  map[string]cache.Node
	again  map[string]cache.Event // the Deleted of nodes whose Created is to follow
	synced bool
	wrong  []string // what no order of events allows
}

func newEvents() *events {
	return &events{nodes: map[string]cache.Node{}, again: map[string]cache.Event{}}
}

func subscribe(c *cache.CuratorCache) *events {
	e := newEvents()
	c.OnEvent(e.hear)
	return e
}

func (e *events) hear(event cache.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := event.Node()
	text := event.Kind.String()
	if n.Path != "" {
		text += " " + n.Path
		if len(n.Data) > 0 {
			text += "=" + string(n.Data)
		}
	}
	e.heard = append(e.heard, text)
	e.apply(event, n)
}

func (e *events) apply(event cache.Event, n cache.Node) {
	before, known := e.nodes[n.Path]
	complain := func(format string, args ...any) { e.wrong = append(e.wrong, fmt.Sprintf(format, args...)) }
	switch event.Kind {
	case cache.Created:
		if known {
			complain("created %s, which is there", n.Path)
		}
		if deleted, again := e.again[n.Path]; again != (event.Old.Path != "") || again && !sameNodes(deleted, event) {
			complain("created %s of %v, deleted before as %v", n.Path, event, deleted)
		}
		delete(e.again, n.Path)
		e.nodes[n.Path] = n
	case cache.Changed:
		if !known || !same(before, event.Old) {
			complain("changed %s from %v, have %v", n.Path, event.Old, before)
		}
		e.nodes[n.Path] = n
	case cache.Deleted:
		if !known || !same(before, event.Old) {
			complain("deleted %s as %v, have %v", n.Path, event.Old, before)
		}
		for path := range e.nodes {
			if strings.HasPrefix(path, n.Path+"/") {
				complain("deleted %s before %s", n.Path, path)
			}
		}
		delete(e.nodes, n.Path)
		if event.New.Path != "" {
			e.again[n.Path] = event
		}
	case cache.Synced:
		for path := range e.again {
			complain("synced before %s was created again", path)
		}
		if e.synced {
			complain("synced twice")
		}
		e.synced = true
	case cache.Stale:
		if !e.synced {
			complain("stale twice")
		}
		e.synced = false
	}
}

func sameNodes(a, b cache.Event) bool { return same(a.Old, b.Old) && same(a.New, b.New) }

func same(a, b cache.Node) bool {
	return a.Path == b.Path && bytes.Equal(a.Data, b.Data) && a.Stat.Czxid == b.Stat.Czxid && a.Stat.Mzxid == b.Stat.Mzxid
}

// want checks what was heard since the last time.
func (e *events) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.heard, want) {
		t.Errorf("heard %q, want %q", e.heard, want)
	}
	e.heard = nil
	e.checkLocked(t)
}

func (e *events) checkLocked(t *testing.T) {
	t.Helper()
	for _, wrong := range e.wrong {
		t.Error(wrong)
	}
	e.wrong = nil
}

// A view is what a cache is to have of a server.
type view struct {
	base   string // the client's chroot and namespace
	root   string // as the client has it
	noData bool
	keep   func(path string) bool // by the server's path
}

// relative is a server's path below the root, "a/b"; "" for the root and what is not below it.
func (v view) relative(path string) string {
	_, relative, _ := strings.Cut(path, strings.TrimSuffix(v.base+v.root, "/")+"/")
	return relative
}

// wantEqual checks that the cache has what the server has, and that a subscriber has heard of just that.
func (v view) wantEqual(t *testing.T, server *zktest.Server, c *cache.CuratorCache, e *events) {
	t.Helper()
	got := map[string]string{}
	for n := range c.All() {
		got[n.Path] = text(n)
	}
	compare(t, "the cache", got, v.of(server))
	if e != nil {
		v.wantHeard(t, server, e)
	}
}

// wantHeard checks that a subscriber has heard of what the server has.
func (v view) wantHeard(t *testing.T, server *zktest.Server, e *events) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked(t)
	heard := map[string]string{}
	for path, n := range e.nodes {
		heard[path] = text(n)
	}
	compare(t, "the subscriber", heard, v.of(server))
}

// of is what the server has, by the client's paths.
func (v view) of(server *zktest.Server) map[string]string {
	nodes := map[string]string{}
	var walk func(path string)
	walk = func(path string) {
		stat, ok := server.Stat(path)
		if !ok || !v.keep(path) {
			return
		}
		data, _ := server.Data(path)
		if v.noData {
			data = nil
		}
		n := cache.Node{Path: "/" + strings.TrimPrefix(path, v.base+"/"), Data: data, Stat: &zk.Stat{Czxid: stat.Czxid, Mzxid: stat.Mzxid}}
		if path == v.base {
			n.Path = "/"
		}
		nodes[n.Path] = text(n)
		for _, name := range server.Children(path) {
			walk(strings.TrimSuffix(path, "/") + "/" + name)
		}
	}
	if walk(strings.TrimSuffix(v.base+v.root, "/")); v.base+v.root == "/" {
		walk("/")
	}
	return nodes
}

func text(n cache.Node) string {
	return fmt.Sprintf("%.20q czxid %d mzxid %d", n.Data, n.Stat.Czxid, n.Stat.Mzxid)
}

// wantEqual checks that the cache has what the server has below a path, and that a subscriber has heard of just that.
func wantEqual(t *testing.T, server *zktest.Server, c *cache.CuratorCache, e *events, path string) {
	t.Helper()
	view{root: path, keep: all}.wantEqual(t, server, c, e)
}

func compare(t *testing.T, who string, got, want map[string]string) {
	t.Helper()
	for path, w := range want {
		if got[path] != w {
			t.Errorf("%s has %s as %q, want %q", who, path, got[path], w)
		}
	}
	for path, g := range got {
		if want[path] == "" {
			t.Errorf("%s has %s as %q, want none", who, path, g)
		}
	}
}

func all(string) bool { return true }
