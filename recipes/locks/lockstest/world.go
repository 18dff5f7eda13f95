package lockstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// A world is what a law runs in: a server, and a lock on it that nobody else uses.
type world struct {
	t        *testing.T
	server   Server
	recipe   Recipe
	path     string
	contacts []*contact
	attempts []*attempt
}

// newWorld makes the world of one law. At its end everything is let go, and what is left of the lock at the server then, nodes
// or watches, is an error: every law is one of G4 and G5 as well.
func newWorld(t *testing.T, server Server, recipe Recipe) *world {
	w := &world{t: t, server: server, recipe: recipe, path: fmt.Sprintf("/laws/%s-%x", recipe.Name, time.Now().UnixNano())}
	t.Cleanup(w.cleanUp)
	return w
}

func (w *world) cleanUp() {
	for _, c := range w.contacts {
		c.link.Heal()
	}
	for _, a := range w.attempts {
		a.cancel()
	}
	for _, a := range w.attempts {
		<-a.done
		if a.lease != nil {
			_ = a.lease.Release() // it may have been released, or lost
		}
	}
	w.until("no node of the lock is left", func() bool { return len(w.nodes()) == 0 })
	w.until("no watch is left", func() bool { return w.server.AllWatches() == 0 })
	for _, c := range w.contacts {
		_ = c.Close()
	}
}

// A contact is a client and its path to the server.
type contact struct {
	*framework.Client
	w    *world
	link *Link
}

// client makes a client that is connected.
func (w *world) client(opts ...framework.Option) *contact {
	w.t.Helper()
	return w.clientOn(w.server.NewLink(), opts...)
}

func (w *world) clientOn(link *Link, opts ...framework.Option) *contact {
	w.t.Helper()
	client, err := framework.NewClient(link.connect, append([]framework.Option{
		framework.WithDialer(link.DialContext), framework.WithSessionTimeout(w.server.SessionTimeout()),
		framework.WithRetryPolicy(retry.NTimes(10, 50*time.Millisecond)),
	}, opts...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &contact{Client: client, w: w, link: link}
	w.contacts = append(w.contacts, c)
	if err := client.BlockUntilConnected(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) clients(n int) []*contact {
	w.t.Helper()
	all := make([]*contact, n)
	for i := range all {
		all[i] = w.client()
	}
	return all
}

// session is the number of the client's present session, once it is connected.
func (c *contact) session() int64 {
	c.w.t.Helper()
	s, err := c.Session(c.w.t.Context())
	if err != nil {
		c.w.t.Fatal(err)
	}
	return s.ID()
}

// expire ends the client's session at the server.
func (c *contact) expire() {
	c.w.t.Helper()
	c.w.server.ExpireSession(c.link, c.session())
}

// lock is the lock under test, for a client.
func (c *contact) lock(opts ...locks.Option) locks.Lock {
	return c.w.recipe.New(c.Client, c.w.path, opts...)
}

// rival is a lock that keeps everybody from the lock under test.
func (c *contact) rival(opts ...locks.Option) locks.Lock {
	if c.w.recipe.Rival == nil {
		return c.lock(opts...)
	}
	return c.w.recipe.Rival(c.Client, c.w.path, opts...)
}

// fill takes all that there is of the lock, so that the next one has to wait.
func (c *contact) fill() leases {
	c.w.t.Helper()
	n := 1
	if c.w.recipe.Rival == nil {
		n = c.w.recipe.Capacity
	}
	before := c.w.nodes()
	var all leases
	for range n {
		all = append(all, c.start(c.rival()).get())
	}
	c.w.settles(before, n)
	return all
}

// hold takes one lease.
func (c *contact) hold() *locks.Lease {
	c.w.t.Helper()
	before := c.w.nodes()
	lease := c.start(c.lock()).get()
	c.w.settles(before, 1)
	return lease
}

// settles waits until nothing goes on behind an acquire: all that is there of it are the nodes of the leases, and the client
// watches them.
func (w *world) settles(before []string, leases int) {
	w.t.Helper()
	if w.recipe.Composed {
		leases *= len(w.dirs())
	}
	w.until("the leases have settled", func() bool {
		now := w.added(before)
		return len(now) == leases && !slices.ContainsFunc(now, func(node string) bool { return w.server.Watches(node) == 0 })
	})
}

type leases []*locks.Lease

// release releases all; what is said of the removal of their nodes is an error of the test.
func (ls leases) release(t *testing.T) {
	t.Helper()
	for _, l := range ls {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
}

// lost returns why one of the leases was lost, nil if all are held.
func (ls leases) lost() error {
	for _, l := range ls {
		if err := l.Err(); err != nil {
			return err
		}
	}
	return nil
}

// An attempt is an Acquire on its way.
type attempt struct {
	w       *world
	cancel  context.CancelFunc
	waiting chan locks.Waiting // the first of each wait
	done    chan struct{}
	lease   *locks.Lease // of these, what is right after done
	err     error
	at      time.Time
}

// start begins to acquire on a goroutine of its own.
func (c *contact) start(lock locks.Lock) *attempt {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.w.t.Context()))
	return c.startWith(ctx, cancel, lock)
}

func (c *contact) startWith(ctx context.Context, cancel context.CancelFunc, lock locks.Lock) *attempt {
	a := &attempt{w: c.w, cancel: cancel, done: make(chan struct{})}
	c.w.attempts = append(c.w.attempts, a)
	go func() {
		defer close(a.done)
		a.lease, a.err = lock.Acquire(ctx)
		a.at = time.Now()
	}()
	return a
}

// queue begins to acquire and returns when the contender's node stands in the queue and the contender waits for it.
func (c *contact) queue(opts ...locks.Option) *attempt {
	c.w.t.Helper()
	waiting := make(chan locks.Waiting, 64)
	opts = append(opts, locks.WithTrace(locks.Trace{Waiting: func(_ context.Context, w locks.Waiting) {
		select {
		case waiting <- w:
		default:
		}
	}}))
	a := c.start(c.lock(opts...))
	a.waiting = waiting
	a.waits()
	return a
}

// waits returns when the contender begins a wait, and says for whom it waits.
func (a *attempt) waits() locks.Waiting {
	a.w.t.Helper()
	select {
	case waiting := <-a.waiting:
		return waiting
	case <-a.done:
		a.w.t.Fatalf("it should wait, got %v, %v", a.lease, a.err)
	case <-a.w.patience():
		a.w.t.Fatal("it neither waits nor returns")
	}
	return locks.Waiting{}
}

// returned waits for the end of the acquire.
func (a *attempt) returned() {
	a.w.t.Helper()
	select {
	case <-a.done:
	case <-a.w.patience():
		a.w.t.Fatal("Acquire does not return")
	}
}

// get waits for the lease.
func (a *attempt) get() *locks.Lease {
	a.w.t.Helper()
	a.returned()
	if a.err != nil {
		a.w.t.Fatal(a.err)
	}
	return a.lease
}

// fails waits for the acquire to fail with want.
func (a *attempt) fails(want error) {
	a.w.t.Helper()
	a.returned()
	if !errors.Is(a.err, want) {
		a.w.t.Fatalf("Acquire: %v, %v, want error %v", a.lease, a.err, want)
	}
}

// hasReturned reports whether the acquire has ended.
func (a *attempt) hasReturned() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// isWaiting fails the test if the acquire has ended.
func (a *attempt) isWaiting() {
	a.w.t.Helper()
	if a.hasReturned() {
		a.w.t.Fatalf("it should still wait, got %v, %v", a.lease, a.err)
	}
}

// patience is longer than anything that is promised.
func (w *world) patience() <-chan time.Time {
	return time.After(10*w.server.SessionTimeout() + 10*time.Second)
}

// until waits for a condition at the server.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	given := w.patience()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-given:
			w.t.Errorf("timed out waiting until %s; nodes %v, watches %d", what, w.nodes(), w.server.AllWatches())
			return
		}
	}
}

// pass lets time pass: what the law is about happens meanwhile, or does not.
func (w *world) pass(d time.Duration) { <-time.After(d) }

// dirs are the directories of the lock.
func (w *world) dirs() []string {
	if w.recipe.Dirs == nil {
		return []string{w.path}
	}
	return w.recipe.Dirs(w.path)
}

// nodes returns the paths of all nodes in the directories of the lock, but for these directories.
func (w *world) nodes() []string {
	dirs := w.dirs()
	var all []string
	for _, dir := range dirs {
		for _, name := range w.server.Children(dir) {
			if path := dir + "/" + name; !slices.Contains(dirs, path) {
				all = append(all, path)
			}
		}
	}
	slices.Sort(all)
	return all
}

// added returns the nodes that are there now and were not before.
func (w *world) added(before []string) []string {
	return slices.DeleteFunc(w.nodes(), func(path string) bool { return slices.Contains(before, path) })
}

// node returns the path of a lease's node.
func (w *world) node(l *locks.Lease) string {
	w.t.Helper()
	for _, dir := range w.dirs() {
		path := dir + "/" + l.NodeName()
		if w.server.Stat(path) != nil {
			return path
		}
	}
	w.t.Fatalf("the lease's node %s is not there", l.NodeName())
	return ""
}

// stat returns the Stat of a lease's node.
func (w *world) stat(l *locks.Lease) *zk.Stat {
	w.t.Helper()
	return w.server.Stat(w.node(l))
}

// ends waits for the end of a lease and returns what it ended with.
func (w *world) ends(l *locks.Lease) error {
	w.t.Helper()
	select {
	case <-l.Done():
	case <-w.patience():
		w.t.Fatal("the lease does not end")
	}
	return l.Err()
}

func isNotAcquired(err error) bool { return errors.Is(err, locks.ErrNotAcquired) }
