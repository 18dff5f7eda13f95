package cache_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// worlds are the kinds of servers at which random histories are played.
var worlds = []string{"3.5", "3.6", "3.8.6", "3.9.5", "Keeper 24.8", "Keeper 26.4", "ensemble", "younger"}

// A world is the servers of a history, and what can happen to them.
type world struct {
	t          *testing.T
	rand       *rand.Rand
	opts       []zktest.Option
	ensemble   *zktest.Ensemble // nil for a single server
	restored   bool             // the server is replaced by one that has seen less
	removes    bool             // the servers can remove watches
	wrongPaths bool             // events of trees have the path of their root
	addrs      []string
	closed     map[string]bool // nodes that the client may not read
	done       []string        // for the report of a failure

	mu     sync.Mutex
	link   *zktest.Link
	server *zktest.Server
	cutAt  int // the link is reset before so many more requests; never if it is 0
}

func newWorld(t *testing.T, kind string, random *rand.Rand) *world {
	w := &world{t: t, closed: map[string]bool{}, rand: random, wrongPaths: kind == "Keeper 26.4", removes: kind != "Keeper 24.8", addrs: []string{"zktest:2181"}}
	release, keeper := strings.CutPrefix(kind, "Keeper ")
	switch {
	case kind == "ensemble":
		w.ensemble = zktest.NewEnsemble(3)
		w.addrs = w.ensemble.Addrs()
		t.Cleanup(func() { _ = w.ensemble.Close() })
		for i := range w.ensemble.Size() {
			w.ensemble.Server(i).Observe(w.observe)
		}
		w.server, w.link = w.ensemble.Leader(), w.ensemble.NewLink()
		return w
	case kind == "younger":
		w.restored = true
	case keeper:
		w.opts = append(w.opts, zktest.WithKeeper(release))
	default:
		w.opts = append(w.opts, zktest.WithVersion(kind))
	}
	w.begin()
	return w
}

// begin has a new server take the place of the present one.
func (w *world) begin() {
	server := zktest.NewServer(w.opts...)
	w.t.Cleanup(func() { _ = server.Close() })
	server.Observe(w.observe)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.server, w.link = server, server.NewLink()
}

// DialContext dials whichever server is there.
func (w *world) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return w.path().DialContext(ctx, network, address)
}

func (w *world) path() *zktest.Link {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.link
}

// observe resets the link between two requests of the cache.
func (w *world) observe(zktest.Request) {
	w.mu.Lock()
	link, due := w.link, w.cutAt == 1
	w.cutAt = max(w.cutAt-1, 0)
	w.mu.Unlock()
	if due {
		link.Reset()
	}
}

func (w *world) disturb() {
	link := w.path()
	fault := w.rand.IntN(16)
	w.done = append(w.done, fmt.Sprint("fault ", fault))
	switch fault {
	case 0:
		link.Cut()
	case 1:
		link.Heal()
	case 2:
		link.Reset()
	case 3, 4, 5:
		w.mu.Lock()
		w.cutAt = 1 + w.rand.IntN(40)
		w.mu.Unlock()
	case 6:
		for _, s := range w.server.Sessions() {
			w.server.ExpireSession(s.ID)
		}
	case 7:
		time.Sleep(time.Duration(w.rand.IntN(20)) * time.Second)
	case 8:
		link.SetLatency(time.Duration(w.rand.IntN(50)) * time.Millisecond)
	case 9, 10:
		time.Sleep(time.Duration(w.rand.IntN(50)) * time.Millisecond)
	case 11, 12:
		w.disturbServers()
	default:
	}
}

func (w *world) disturbServers() {
	if w.restored {
		w.replace()
	}
	if w.ensemble == nil {
		return
	}
	switch i := w.rand.IntN(w.ensemble.Size()); w.rand.IntN(4) {
	case 0:
		w.ensemble.SetLag(i, time.Duration(w.rand.IntN(3000))*time.Millisecond)
	case 1:
		w.ensemble.Isolate(i)
	case 2:
		w.ensemble.Rejoin(i)
	default:
		w.ensemble.Elect(i)
		w.server = w.ensemble.Leader()
	}
}

// replace has a server that was restored from a backup of some nodes, whose zxids are lower.
func (w *world) replace() {
	old := w.server
	clear(w.closed)
	w.path().Cut()
	w.begin()
	var restore func(path string)
	restore = func(path string) {
		data, _ := old.Data(path)
		if err := w.server.Create(path, data); err != nil {
			w.t.Fatalf("restoring %s: %v", path, err)
		}
		for _, name := range old.Children(path) {
			if path == "/app" || w.rand.IntN(4) > 0 {
				restore(path + "/" + name)
			}
		}
	}
	for _, name := range old.Children("/") {
		if name != "zookeeper" {
			restore("/" + name)
		}
	}
}

// calm ends all faults.
func (w *world) calm() {
	w.mu.Lock()
	w.cutAt = 0
	w.mu.Unlock()
	w.path().Heal()
	if w.ensemble != nil {
		for i := range w.ensemble.Size() {
			w.ensemble.Rejoin(i)
			w.ensemble.SetLag(i, 0)
		}
	}
}

func (w *world) watches() []string {
	servers := []*zktest.Server{w.server}
	if w.ensemble != nil {
		servers = nil
		for i := range w.ensemble.Size() {
			servers = append(servers, w.ensemble.Server(i))
		}
	}
	var list []string
	for _, server := range servers {
		for _, watch := range server.ListWatches() {
			list = append(list, fmt.Sprintf("%v of %s", watch.Kind, watch.Path))
		}
	}
	slices.Sort(list)
	return list
}
