package live_test

import (
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/internal/sampletest"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

var (
	simulationSeed  = flag.Uint64("seed", 0, "replay this seed of the simulation of watches alone, and log its history")
	simulationSeeds = flag.Uint64("seeds", 150, "how many seeds the simulation of watches tries")
)

// seeds yields the seeds of a simulation from 1 to n, or the part of them that is a sample, until the test has failed.
func seeds(t *testing.T, n uint64) iter.Seq[uint64] {
	t.Helper()
	if *simulationSeed != 0 {
		return func(yield func(uint64) bool) { yield(*simulationSeed) }
	}
	part := sampletest.New(t, "seeds").Part(int(n), 3)
	return func(yield func(uint64) bool) {
		for _, i := range part {
			if t.Failed() || !yield(uint64(i)+1) {
				return
			}
		}
	}
}

// simulatedPaths are few, so that watches of all kinds meet on the same nodes.
var simulatedPaths = []string{"/t", "/t", "/t/a", "/t/a/b"}

// A watchSimulation is a random schedule of changes, faults and watches of one session. At its end every watch must
// know what is.
type watchSimulation struct {
	*env
	rand    *rand.Rand
	session framework.Session
	watches []*simulatedWatch
	trees   []*simulatedTree
	broken  int
	log     []string
}

// A simulatedWatch is a subscriber.
type simulatedWatch struct {
	session.Watch
	kind, path string
}

// A simulatedTree is a cache as a recipe would have it: it reads a node when it hears of it, and all when the watch is
// set. What it reads is the server's state then, which may be newer than what it has heard of.
type simulatedTree struct {
	path   string
	server *zktest.Server
	mu     sync.Mutex
	known  map[string]int64 // by path, Mzxid; no entry if there is no node
	err    error
}

func (c *simulatedTree) read(path string) {
	delete(c.known, path)
	if stat, ok := c.server.Stat(path); ok && slices.Contains(simulatedPaths, path) {
		c.known[path] = stat.Mzxid
	}
}

func within(tree, path string) bool { return path == tree || strings.HasPrefix(path, tree+"/") }

func (c *simulatedTree) Watching() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range simulatedPaths {
		if within(c.path, path) {
			c.read(path)
		}
	}
}

func (c *simulatedTree) Changed(_ zk.EventType, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !within(c.path, path) {
		c.err = fmt.Errorf("heard of %s", path)
	}
	c.read(path)
}

// Lost forgets what was known: until Watching, nothing can be.
func (c *simulatedTree) Lost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
}

func (c *simulatedTree) Refused(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// check compares with the server.
func (c *simulatedTree) check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	want := map[string]int64{}
	for _, path := range simulatedPaths {
		if stat, ok := c.server.Stat(path); ok && within(c.path, path) {
			want[path] = stat.Mzxid
		}
	}
	if !maps.Equal(c.known, want) {
		return fmt.Errorf("got %v, want %v", c.known, want)
	}
	return nil
}

func TestSimulatedWatchesKnowInTheEndWhatIs(t *testing.T) {
	for seed := range seeds(t, *simulationSeeds) {
		version := []string{"3.6", "3.8.6", "3.9.5"}[seed%3]
		zktest.Bubble(t, func(t *testing.T) {
			server := zktest.New(t, zktest.WithVersion(version))
			w := &watchSimulation{
				env:  &env{&clienttest.Env{T: t, Server: server, Link: server.NewLink(), States: &clienttest.States{}}},
				rand: rand.New(rand.NewPCG(seed, 0)),
			}
			w.Client = w.Dial("zk:2181")
			w.Connected()
			w.session = w.Session()
			w.run()
			wantErr(t, w.Client.Close())
			if t.Failed() || *simulationSeed != 0 {
				t.Logf("at %s, replay with -seed %d:\n%s", version, seed, strings.Join(w.log, "\n"))
			}
		})
	}
}

func (w *watchSimulation) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *watchSimulation) path() string { return simulatedPaths[w.rand.IntN(len(simulatedPaths))] }

func (w *watchSimulation) run() {
	w.Link.SetLatency(time.Millisecond)
	for range 120 {
		w.step()
		if w.rand.IntN(3) > 0 { // otherwise both at one moment
			time.Sleep(time.Duration(w.rand.IntN(5)) * 500 * time.Microsecond)
		}
	}
	w.note("heal")
	w.Link.Heal()
	w.Eventually("connected", w.session.Connected)
	time.Sleep(clienttest.SessionTimeout)
	// a deaf watch must not know all by chance
	for _, path := range slices.Concat(simulatedPaths, []string{"/t/c", "/t/a/c", "/t/a/b/c"}) {
		_ = w.Server.Create(path, nil)
		_ = w.Server.SetData(path, nil) // either may fail: nodes may be there, or lack their parents
	}
	time.Sleep(clienttest.SessionTimeout)
	if err := w.session.Err(); err != nil {
		w.Fatalf("the session has ended: %v", err)
	}
	for _, o := range w.watches {
		if err := w.check(o); err != nil {
			w.Errorf("%s of %s: %v", o.kind, o.path, err)
		}
		o.Stop()
	}
	for _, c := range w.trees {
		if err := c.check(); err != nil {
			w.Errorf("tree at %s: %v", c.path, err)
		}
		w.session.UnwatchTree(c.path, c)
	}
	time.Sleep(clienttest.SessionTimeout)
	w.wantWatches(0)
}

func (w *watchSimulation) step() {
	path := w.path()
	switch w.rand.IntN(22) {
	case 0, 1, 2, 3:
		w.note("create %s: %v", path, w.Server.Create(path, nil))
	case 4, 5, 6:
		w.note("delete %s: %v", path, w.Server.Delete(path))
	case 7, 8, 9:
		w.note("set %s: %v", path, w.Server.SetData(path, nil))
	case 10, 11:
		w.watch(path)
	case 12:
		w.note("tree %s", path)
		c := &simulatedTree{path: path, server: w.Server, known: map[string]int64{}}
		w.trees = append(w.trees, c)
		if err := w.session.WatchTree(path, c); err != nil {
			w.Error(err)
		}
	case 13, 14:
		w.unwatch()
	case 15, 16:
		w.breakConnection()
	case 17, 18, 19:
		op := []zktest.Op{0, zktest.OpAddWatch, zktest.OpRemoveWatches, zktest.OpGetData, zktest.OpExists, zktest.OpGetChildren2}[w.rand.IntN(6)]
		w.note("throttle %v", op)
		w.Server.ThrottleRequest(zktest.Match{Op: op})
	case 20, 21:
		if n := len(w.watches); n > 0 {
			o := w.watches[w.rand.IntN(n)]
			w.note("read %s of %s again", o.kind, o.path)
			o.ReadAgain()
		}
	}
}

// breakConnection does so, with what is under way in both directions. Three times in a row would be evidence that the
// server hangs up on a request, so the requests that clients can do without are answered before the third time.
func (w *watchSimulation) breakConnection() {
	if w.broken++; w.broken%2 == 1 {
		w.Eventually("connected", w.session.Connected)
		probe := &simulatedTree{path: "/probe", server: w.Server}
		if err := w.session.WatchTree(probe.path, probe); err != nil {
			w.Error(err)
		}
		w.session.UnwatchTree(probe.path, probe)
		time.Sleep(20 * time.Millisecond)
	}
	if w.rand.IntN(2) == 0 {
		w.note("reset")
		w.Link.Reset()
		return
	}
	w.note("cut for a moment")
	w.Link.Cut()
	time.AfterFunc(time.Duration(w.rand.IntN(40))*time.Millisecond, w.Link.Heal)
}

func (w *watchSimulation) watch(path string) {
	kind := []string{"data", "deferred data", "lasting data", "children", "deferred children"}[w.rand.IntN(5)]
	w.note("watch %s of %s", kind, path)
	watch := map[string]func(string, func()) session.Watch{
		"data": w.session.WatchData, "deferred data": w.session.WatchDataDeferred, "lasting data": w.session.WatchDataPersistent,
		"children": w.session.WatchChildren, "deferred children": w.session.WatchChildrenDeferred,
	}[kind]
	w.watches = append(w.watches, &simulatedWatch{Watch: watch(path, func() {}), kind: kind, path: path})
}

func (w *watchSimulation) unwatch() {
	if n := len(w.watches); n > 0 && w.rand.IntN(2) == 0 {
		i := w.rand.IntN(n)
		w.note("end of the watch %s of %s", w.watches[i].kind, w.watches[i].path)
		w.watches[i].Stop()
		w.watches = slices.Delete(w.watches, i, i+1)
	} else if n := len(w.trees); n > 0 {
		i := w.rand.IntN(n)
		w.note("end of the tree at %s", w.trees[i].path)
		w.session.UnwatchTree(w.trees[i].path, w.trees[i])
		w.trees = slices.Delete(w.trees, i, i+1)
	}
}

// check compares what a watch knows with the server. A node that was seen gone stays so for all but lasting watches.
func (w *watchSimulation) check(o *simulatedWatch) error {
	view := o.View()
	stat, there := w.Server.Stat(o.path)
	switch {
	case view.Status == framework.StatusGone && (!there || o.kind != "lasting data"):
		return nil
	case view.Status != framework.StatusPresent || !there:
	case strings.Contains(o.kind, "children") && view.Stat.Pzxid == stat.Pzxid && view.Stat.Czxid == stat.Czxid:
		return nil
	case !strings.Contains(o.kind, "children") && view.Stat.Mzxid == stat.Mzxid:
		return nil
	}
	return fmt.Errorf("got status %d, %+v, want what is there: %t, %+v", view.Status, view.Stat, there, stat)
}
