package lockstest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// A world is what a law runs in: a server, and a lock on it that no other law uses.
type world struct {
	t        testing.TB
	server   Server
	exact    bool // time is: the law runs in a bubble
	recipe   Recipe
	path     string
	record   *Record
	contacts []*contact
	attempts []*attempt
	robbed   atomic.Bool // a client that was left alone has lost a lease or its session
}

// newWorld makes the world of one law. At its end everything is let go, and what is left of the lock at the server
// then, nodes or watches, is an error: every law is one of G4 and G5 as well. Then the journal is checked.
func newWorld(t testing.TB, server Server, recipe Recipe, exact bool) *world {
	w := &world{t: t, server: server, recipe: recipe, exact: exact, path: fmt.Sprintf("/laws/%s-%x", recipe.Name, time.Now().UnixNano())}
	w.record = NewRecord(server, w.path)
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
	w.leavesNothing("no node of the lock is left", func() bool { return len(w.nodes()) == 0 })
	w.leavesNothing("no watch is left", func() bool { return w.server.AllWatches() == 0 })
	for _, c := range w.contacts {
		c.link.disturb()
		_ = c.Close()
	}
	w.record.Check(w.t, w.exact)
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
	name := fmt.Sprintf("client %d", len(w.contacts)+1)
	client, err := framework.NewClient(link.connect, append([]framework.Option{
		framework.WithDialer(link.DialContext), framework.WithSessionTimeout(w.server.SessionTimeout()),
		framework.WithRetryPolicy(retry.NTimes(10, 50*time.Millisecond)), w.record.Trace(name),
	}, opts...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.record.Attach(client, name)
	c := &contact{Client: client, w: w, link: link}
	w.contacts = append(w.contacts, c)
	if !w.exact {
		c.OnStateChange(func(now framework.StateChange) {
			if now.State == framework.StateLost && !link.isDisturbed(now.SessionID) {
				w.robbed.Store(true)
			}
		})
	}
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
	c.w.record.ExpireSession(c.link, c.session())
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

// standEverywhere makes nodes in all directories of the lock: servers remove an empty container at any time.
func (c *contact) standEverywhere() {
	c.w.t.Helper()
	if !c.w.recipe.Gated {
		c.hold()
		return
	}
	c.fill()
	c.queue()
}

// settles waits until nothing goes on behind an acquire: all that is there of it are the nodes of the leases, and the
// client watches them.
func (w *world) settles(before []string, leases int) {
	w.t.Helper()
	if w.recipe.Composed {
		leases *= len(w.dirs())
	}
	w.untilGone("no node is there but those of the leases", func() bool { return len(w.added(before)) <= leases })
	w.until("the leases have settled", func() bool {
		if w.robbed.Load() {
			w.t.Fatal("a lease was lost before it had settled")
		}
		now := w.added(before)
		return len(now) == leases && !slices.ContainsFunc(now, func(node string) bool { return w.server.Watches(node) == 0 })
	})
}

type leases []*locks.Lease

// release releases all; what is said of the removal of their nodes is an error of the test.
func (ls leases) release(t testing.TB) {
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

// until waits for a condition at the server.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	if !await.Within(w.limit(), holds) {
		await.Fatalf(w.t, "%s; nodes %v, watches %d", what, w.nodes(), w.server.AllWatches())
	}
}

// untilGone is until for what must not stay. What stays is residue, and not a machine that is slow.
func (w *world) untilGone(what string, holds func() bool) {
	w.t.Helper()
	if limit := w.limit(); !await.Within(limit, holds) {
		w.t.Fatalf("after %v it is not so that %s; nodes %v, watches %d", limit, what, w.nodes(), w.server.AllWatches())
	}
}

// leavesNothing is untilGone at the end of a law. What stays then is residue however slow the machine is.
func (w *world) leavesNothing(what string, holds func() bool) {
	w.t.Helper()
	if !await.Within(w.limit(), holds) {
		violated(w.t)
	}
	w.untilGone(what, holds)
}

// pass lets time pass: what the law is about happens meanwhile, or does not.
func (w *world) pass(d time.Duration) { <-time.After(d) }

// ends waits for the end of a lease and returns what it ended with.
func (w *world) ends(l *locks.Lease) error {
	w.t.Helper()
	select {
	case <-l.Done():
	case <-w.patience():
		if l.Err() == nil {
			w.t.Fatalf("got a lease that lasts for %v, want it ended", w.limit())
		}
	}
	return l.Err()
}

func isNotAcquired(err error) bool { return errors.Is(err, locks.ErrNotAcquired) }
