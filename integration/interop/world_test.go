//go:build linux

package interop_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/internal/drivers"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

// Kinds of contenders.
const (
	ours    = drivers.Ours
	java    = "java"     // Java Curator
	oldJava = "java-old" // its 5.4
	python  = "kazoo"
	goZK    = "zk.Lock"
	earlier = "go-earlier" // this library, at an earlier commit
)

func TestMain(m *testing.M) {
	if os.Getenv(drivers.Env) != "" {
		if err := godriver.Run(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	status := m.Run()
	fleet.end()
	_ = os.RemoveAll(earlierDriver.dir)
	os.Exit(status)
}

// fleet are the drivers that tests share, because a virtual machine takes its time to warm up. Tests that freeze or
// kill one have their own: see world.fresh.
var fleet sharedDrivers

type sharedDrivers struct {
	mu  sync.Mutex
	all map[string]*drivers.Process
	// events of a shared driver go to the test that has the contender or client.
	events sync.Map // name → func(godriver.Answer)
}

// get returns the shared driver of a kind.
func (d *sharedDrivers) get(t testing.TB, kind string) *drivers.Process {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if kind == goZK {
		kind = ours
	}
	if p := d.all[kind]; p != nil {
		return p
	}
	p := drivers.Start(t, kind, command(t, kind), d.dispatch)
	if d.all == nil {
		d.all = map[string]*drivers.Process{}
	}
	d.all[kind] = p
	return p
}

func (d *sharedDrivers) dispatch(a godriver.Answer) {
	if fn, ok := d.events.Load(a.Who); ok {
		fn.(func(godriver.Answer))(a)
	}
}

func (d *sharedDrivers) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.all {
		p.Kill()
	}
}

func command(t testing.TB, kind string) []string {
	t.Helper()
	switch kind {
	case java:
		return drivers.JavaCommand(t, drivers.CuratorVersion)
	case oldJava:
		return drivers.JavaCommand(t, drivers.CuratorOldVersion)
	case python:
		return drivers.KazooCommand(t)
	case earlier:
		return earlierCommand(t)
	default:
		return drivers.GoCommand(t)
	}
}

// nodeData is what lock nodes contain in these tests, of every client.
const nodeData = "contender"

// sessionTimeout is long enough that no session ends unless a test wants it, on a busy machine either.
const sessionTimeout = time.Minute

// patience bounds every wait for something that must happen.
const patience = 5 * time.Minute

// A world is a server, an observer, and contenders.
type world struct {
	t        testing.TB
	server   *zookeeper.Server // nil if it is one in memory
	record   *drivers.Record   // nil if the server is one in memory
	addr     string
	observer *zk.Conn
	timeout  time.Duration // the session timeout
	retries  int           // how often operations are repeated, 100 ms apart; 40 if zero
}

var names atomic.Int64

// name makes a name that no other test has.
func name(kind string) string { return fmt.Sprintf("%s-%d", kind, names.Add(1)) }

// newWorld starts a server that keeps empty containers, so that numbers do not restart.
func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOn(t, zookeeper.Start(t, zookeeper.Config{ContainerCheckInterval: time.Hour}))
}

func newWorldOn(t testing.TB, server *zookeeper.Server) *world {
	t.Helper()
	w := newWorldAt(t, server.Addr())
	w.server, w.record = server, drivers.NewRecord(t)
	t.Cleanup(func() {
		if steps := w.record.Check(t, server); steps == 0 && w.record.Clients() > 0 {
			t.Errorf("got no step of %d clients in the journal, want some", w.record.Clients())
		}
	})
	return w
}

func newWorldAt(t testing.TB, addr string) *world {
	t.Helper()
	conn, _, err := zk.Connect([]string{addr}, sessionTimeout, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return &world{t: t, addr: addr, observer: conn, timeout: sessionTimeout}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// A client is a session of a driver.
type client struct {
	world   *world
	kind    string
	name    string
	process *drivers.Process
	session string
	lost    chan godriver.Answer // suspended and lost
}

// client opens a session in the shared driver of a kind.
func (w *world) client(kind string) *client {
	w.t.Helper()
	return w.clientIn(fleet.get(w.t, kind), kind, w.addr)
}

// clientIn opens a session in a driver, to an address, for as long as the test lasts.
func (w *world) clientIn(p *drivers.Process, kind, addr string) *client {
	w.t.Helper()
	c := &client{world: w, kind: kind, name: name(kind), process: p, lost: make(chan godriver.Answer, 1000)}
	fleet.events.Store(c.name, func(a godriver.Answer) { c.lost <- a })
	data := nodeData
	order := godriver.Order{
		Op: "open", Client: c.name, Connect: addr, Session: int(w.timeout.Milliseconds()), Retries: w.retries, Data: &data,
	}
	switch {
	case kind == goZK:
		order.Recipe = "zklock"
	case kind == ours && w.record != nil:
		order.Journal = w.record.File(c.name)
	}
	c.session = w.done(p, order).Session
	w.t.Cleanup(func() {
		if a := <-p.Order(godriver.Order{Op: "close", Client: c.name}); a.Error == drivers.ErrGone.Error() && order.Journal != "" {
			w.record.Die(c.name)
		}
		fleet.events.Delete(c.name)
		if w.t.Failed() {
			fmt.Fprintf(w.t.Output(), "%s driver says:\n%s\n", kind, p.Stderr)
		}
	})
	return c
}

// fresh starts a driver for this test alone.
func (w *world) fresh(kind string, events func(godriver.Answer)) *drivers.Process {
	w.t.Helper()
	p := drivers.Start(w.t, kind, command(w.t, kind), events)
	w.t.Cleanup(p.Kill)
	return p
}

// done gives an order and waits until it is done. An error ends the test.
func (w *world) done(p *drivers.Process, order godriver.Order) godriver.Answer {
	w.t.Helper()
	return w.wait(p, order.Op, p.Order(order))
}

func (w *world) wait(p *drivers.Process, what string, answer <-chan godriver.Answer) godriver.Answer {
	w.t.Helper()
	select {
	case a := <-answer:
		if a.Error != "" {
			w.t.Fatalf("%s: %s %s: %s\n%s", p.Language, what, a.Who, a.Error, p.Stderr)
		}
		return a
	case <-time.After(patience):
		await.Fatalf(w.t, "the answer of %s to %s (%v); the tree is\n%s%s", p.Language, what, patience, w.tree("/"), p.Stderr)
		return godriver.Answer{}
	}
}

// A contender is a thread of a driver, with a lock.
type contender struct {
	*client
	who    string
	path   string
	events chan godriver.Answer
}

// contender makes a contender with a client of its own.
func (w *world) contender(kind string, order godriver.Order) *contender {
	w.t.Helper()
	return w.client(kind).contender(order)
}

// mutex makes a contender for a mutex, of any kind.
func (w *world) mutex(kind, path string) *contender {
	w.t.Helper()
	return w.contender(kind, mutexAt(path))
}

func (c *client) contender(order godriver.Order) *contender {
	c.world.t.Helper()
	order.Op, order.Client, order.Who = "contender", c.name, name(c.kind)
	if c.kind == python && order.Patterns == nil {
		order.Patterns = []string{"lock-"}
	}
	k := &contender{client: c, who: order.Who, path: order.Path, events: make(chan godriver.Answer, 1000)}
	fleet.events.Store(order.Who, func(a godriver.Answer) { k.events <- a })
	c.world.t.Cleanup(func() { fleet.events.Delete(order.Who) })
	c.world.done(c.process, order)
	return k
}

// A how says how to acquire.
type how func(*godriver.Order)

// within bounds the wait; 0 is a try.
func within(d time.Duration) how { return func(o *godriver.Order) { o.MS = d.Milliseconds() } }

// read and write choose the side of a read/write lock.
func read(o *godriver.Order)  { o.Side = "read" }
func write(o *godriver.Order) { o.Side = "write" }

// leases says how many.
func leases(n int) how { return func(o *godriver.Order) { o.N = n } }

func (k *contender) order(op string, hows ...how) godriver.Order {
	o := godriver.Order{Op: op, Who: k.who, MS: -1, N: 1}
	for _, h := range hows {
		h(&o)
	}
	return o
}

// acquire waits for the lock.
func (k *contender) acquire(hows ...how) godriver.Answer {
	k.world.t.Helper()
	a := k.world.done(k.process, k.order("acquire", hows...))
	if !a.OK {
		k.world.t.Fatalf("%s did not acquire", k.who)
	}
	return a
}

// try reports whether the lock could be acquired within the time that is given.
func (k *contender) try(hows ...how) bool {
	k.world.t.Helper()
	return k.world.done(k.process, k.order("acquire", hows...)).OK
}

// release releases once.
func (k *contender) release(hows ...how) godriver.Answer {
	k.world.t.Helper()
	return k.world.done(k.process, k.order("release", hows...))
}

// awaitLimit waits until a user of a semaphore has heard of a limit.
func (k *contender) awaitLimit(limit int) {
	k.world.t.Helper()
	got := 0
	if !await.Within(patience, func() bool {
		got = k.world.done(k.process, k.order("value")).Value
		return got == limit
	}) {
		await.Fatalf(k.world.t, "%s to hear of a limit: got %d, want %d", k.who, got, limit)
	}
}

// A wait is an acquire that is under way.
type wait struct {
	k      *contender
	answer <-chan godriver.Answer
	early  *godriver.Answer
}

// queue begins to acquire, and returns when the contender stands in the queue, that is, when path has one child more.
func (k *contender) queue(path string, hows ...how) *wait {
	k.world.t.Helper()
	before := len(k.world.children(path))
	w := &wait{k: k, answer: k.process.Order(k.order("acquire", hows...))}
	k.world.awaitChildren(path, before+1)
	return w
}

// granted waits for the end of the wait.
func (w *wait) granted() godriver.Answer {
	w.k.world.t.Helper()
	if w.early != nil {
		return *w.early
	}
	a := w.k.world.wait(w.k.process, "acquire", w.answer)
	if !a.OK {
		w.k.world.t.Fatalf("%s did not acquire", w.k.who)
	}
	return a
}

// waits fails the test if the wait is over, after a moment in which it could have ended by mistake.
func (w *wait) waits() {
	w.k.world.t.Helper()
	select {
	case a := <-w.answer:
		w.early = &a
		w.k.world.t.Errorf("%s was let in: %+v; the tree is\n%s", w.k.who, a, w.k.world.tree("/"))
	case <-time.After(50 * time.Millisecond):
	}
}

// children lists a directory; one that is missing is empty.
func (w *world) children(path string) []string {
	w.t.Helper()
	children, _, err := w.observer.Children(path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		w.t.Fatalf("children of %s: %v", path, err)
	}
	slices.Sort(children)
	return children
}

// awaitChildren waits until a directory has n children. That it has more for ever is a leak.
func (w *world) awaitChildren(path string, n int) []string {
	w.t.Helper()
	for late := time.After(patience); ; {
		children, _, changed, err := w.observer.ChildrenW(path)
		if errors.Is(err, zk.ErrNoNode) {
			var there bool
			if there, _, changed, err = w.observer.ExistsW(path); there {
				continue // made in between
			}
		}
		if err != nil {
			w.t.Fatalf("children of %s: %v", path, err)
		}
		if len(children) == n {
			return children
		}
		select {
		case <-changed:
		case <-late:
			if len(children) > n {
				w.t.Fatalf("%s has %d children after %v, want %d:\n%s", path, len(children), patience, n, w.tree(path))
			}
			await.Fatalf(w.t, "children: %s has %d after %v, want %d:\n%s", path, len(children), patience, n, w.tree(path))
		}
	}
}

// awaitGone waits until there is no such node.
func (w *world) awaitGone(path string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		there, _, changed, err := w.observer.ExistsW(path)
		if err != nil {
			w.t.Fatalf("%s: %v", path, err)
		}
		if !there {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.t.Fatalf("%s is still there:\n%s", path, w.tree(path))
		}
	}
}

// mortal is the world with sessions that end soon, for contenders that are to lose theirs. A busy machine may end it
// earlier, so no contender has one that is to be let in.
func (w *world) mortal(timeout time.Duration) *world {
	inner := *w
	inner.timeout = timeout
	return &inner
}

// in is the world in a subtest.
func (w *world) in(t testing.TB) *world {
	inner := *w
	inner.t = t
	return &inner
}

// in is the client in a subtest.
func (c *client) in(w *world) *client {
	inner := *c
	inner.world = w
	return &inner
}
