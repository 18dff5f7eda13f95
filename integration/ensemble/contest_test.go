//go:build linux

package main_test

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// rounds is how often each measurement is made. Its default is for every day, 20 for the tables in the documentation.
var rounds = flag.Int("rounds", 1, "how often each scenario is played")

// patience bounds everything that must happen at some time.
const patience = 5 * time.Minute

// start starts an ensemble with the given limits. Ticks are short where the scenario does not depend on them.
func start(t *testing.T, config zookeeper.EnsembleConfig) *zookeeper.Ensemble {
	t.Helper()
	e := zookeeper.StartEnsemble(t, config)
	keepRecord(t, e)
	return e
}

// settled waits until every server leads or follows.
func settled(t *testing.T, e *zookeeper.Ensemble) (leader *zookeeper.Member, followers []*zookeeper.Member) {
	t.Helper()
	leader, followers = e.Settled()
	if leader == nil {
		t.FailNow()
	}
	return leader, followers
}

// awaitLeader waits until a server leads.
func awaitLeader(t *testing.T, e *zookeeper.Ensemble) *zookeeper.Member {
	t.Helper()
	leader := e.Leader()
	if leader == nil {
		t.FailNow()
	}
	return leader
}

// awaitServing waits until every server serves.
func awaitServing(t *testing.T, e *zookeeper.Ensemble) {
	t.Helper()
	if !e.AwaitServing() {
		t.FailNow()
	}
}

// connect returns a client, attached, that keeps the test's journal.
func connect(t *testing.T, session time.Duration, addrs []string, opts ...framework.Option) *framework.Client {
	t.Helper()
	return connectWith(t, recordOf(t), session, addrs, opts...)
}

// connectWith is connect with another record, or with none.
func connectWith(t *testing.T, r *record, session time.Duration, addrs []string, opts ...framework.Option) *framework.Client {
	t.Helper()
	trace, attach := r.trace()
	opts = slices.Concat(trace, []framework.Option{
		framework.WithSessionTimeout(session),
		framework.WithConnectionTimeout(patience),
		framework.WithRetryPolicy(retry.ExponentialBackoff(50*time.Millisecond, 10)),
	}, opts)
	client, err := framework.NewClient(strings.Join(addrs, ","), opts...)
	if err != nil {
		t.Fatal(err)
	}
	attach(client)
	t.Cleanup(func() { _ = client.Close() })
	connected(t, client)
	return client
}

// connected waits until the client is connected.
func connected(t *testing.T, client *framework.Client) {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, "a client to be connected")
	defer cancel()
	if err := client.BlockUntilConnected(ctx); err != nil {
		t.Fatal(err)
	}
}

// acquire waits for a lock.
func acquire(t *testing.T, client *framework.Client, path string) *locks.Lease {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, "the lock "+path)
	defer cancel()
	lease, err := locks.NewInterProcessMutex(client, path).Acquire(ctx)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return lease
}

// A contest is one lock with a holder and a second that waits for it.
type contest struct {
	t      *testing.T
	path   string
	holder *framework.Client
	lease  *locks.Lease
	knew   chan time.Time // when the holder's lease ended
	second chan grant
	begun  time.Time
}

type grant struct {
	at    time.Time
	lease *locks.Lease
	err   error
}

// hold has the holder acquire a lock of its own.
func hold(t *testing.T, holder *framework.Client, name string) *contest {
	t.Helper()
	c := &contest{t: t, path: "/contest/" + name, holder: holder}
	c.acquire()
	return c
}

func (c *contest) acquire() {
	c.t.Helper()
	recordOf(c.t).contest()
	watchDelays()
	c.knew, c.second, c.begun = make(chan time.Time, 1), make(chan grant, 1), time.Now()
	lease := acquire(c.t, c.holder, c.path)
	c.lease = lease
	knew := c.knew
	go func() {
		<-lease.Done()
		knew <- time.Now()
	}()
}

// against has another client queue behind the holder, and returns when its node is there. A busy machine may cost the
// holder its short session before; then the holder has known first, and both start again.
func (c *contest) against(second *framework.Client) *contest {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; c.acquire() {
		ctx, granted := c.t.Context(), c.second
		go func() {
			lease, err := locks.NewInterProcessMutex(second, c.path).Acquire(ctx)
			granted <- grant{time.Now(), lease, err}
		}()
		if c.stands(second) {
			return c
		}
		if time.Now().After(deadline) {
			await.Fatalf(c.t, "%s: a lease that lasts until the second stands behind its holder: %v", c.path, c.lease.Err())
		}
		if err := c.decided().next.Release(); err != nil {
			c.t.Logf("%s: release by the second: %v", c.path, err)
		}
	}
}

// stands waits until the second stands behind the holder; it reports false if the lease ended before.
func (c *contest) stands(second *framework.Client) bool {
	c.t.Helper()
	var children []string
	var err error
	stands := false
	if !await.Within(patience, func() bool {
		children, _, err = second.Children(c.t.Context(), c.path)
		stands = err == nil && len(children) == 2
		return stands || c.lease.Err() != nil
	}) {
		if len(children) > 2 {
			c.t.Fatalf("%s has the children %v, want 2", c.path, children)
		}
		await.Fatalf(c.t, "the second to stand behind the holder: %s has the children %v, want 2 (%v)", c.path, children, err)
	}
	return stands
}

// awaitChildren waits until the node has so many children.
func awaitChildren(t *testing.T, client *framework.Client, path string, want int) {
	t.Helper()
	var children []string
	var err error
	if !await.Within(patience, func() bool {
		children, _, err = client.Children(t.Context(), path)
		return err == nil && len(children) == want
	}) {
		if len(children) > want {
			t.Fatalf("%s has the children %v, want %d", path, children, want)
		}
		await.Fatalf(t, "children: %s has %v, want %d (%v)", path, children, want, err)
	}
}

// late is by how much a goroutine that a timer wakes may look at its watch too late, besides what delayed measures.
// What compares the time has no such excuse.
const late = 50 * time.Millisecond

// An outcome is what came of a contest in which the holder was to lose.
type outcome struct {
	knew, admitted, validUntil time.Time
	next                       *locks.Lease // the second's
}

// margin is how much earlier the holder knew than the second was admitted.
func (o outcome) margin() time.Duration { return o.admitted.Sub(o.knew) }

// decided waits until the second has been admitted, and checks that the holder knew first.
func (c *contest) decided() outcome {
	c.t.Helper()
	var o outcome
	select {
	case g := <-c.second:
		if g.err != nil {
			c.t.Fatalf("%s: the second was not admitted: %v", c.path, g.err)
		}
		o.admitted, o.next = g.at, g.lease
		c.t.Cleanup(func() { _ = g.lease.Release() })
		if g.lease.FencingToken() <= c.lease.FencingToken() {
			c.t.Errorf("%s: the second's fencing token %#x is not above the first's %#x", c.path, g.lease.FencingToken(), c.lease.FencingToken())
		}
	case <-time.After(patience):
		await.Fatalf(c.t, "%s: the second to be admitted", c.path)
	}
	// Whatever else happens, the holder's own clock must have ended the lease by now.
	errNow, untilNow := c.lease.Err(), c.lease.ValidUntil()
	select {
	case o.knew = <-c.knew:
	case <-time.After(patience):
		c.t.Fatalf("%s: the holder's lease never ended", c.path)
	}
	o.validUntil = c.lease.ValidUntil()
	excuse := late + delayed(c.begun)
	if errNow == nil || untilNow.After(o.admitted) || o.validUntil.After(o.admitted) || o.knew.After(o.admitted.Add(excuse)) {
		c.t.Errorf("%s: TWO HOLDERS: the first knew %v after the second had been admitted; its lease was valid until %v after that (Err: %v)",
			c.path, -o.margin(), o.validUntil.Sub(o.admitted), errNow)
	}
	return o
}

// handOver releases the lock and waits for the second. It reports false if the lease ended before.
func (c *contest) handOver() bool {
	c.t.Helper()
	switch err := c.lease.Release(); {
	case errors.Is(err, locks.ErrLeaseLost):
		return false
	case err != nil:
		c.t.Errorf("%s: release: %v", c.path, err)
	}
	select {
	case g := <-c.second:
		if g.err != nil {
			c.t.Fatalf("%s: the second was not admitted: %v", c.path, g.err)
		}
		if err := g.lease.Release(); err != nil && !errors.Is(err, locks.ErrLeaseLost) {
			c.t.Errorf("%s: release by the second: %v", c.path, err)
		}
	case <-time.After(patience):
		await.Fatalf(c.t, "%s: the second to be admitted", c.path)
	}
	return true
}

// either accepts both ends: the holder keeps the lock, or hears of its loss before the second is admitted. It is for
// faults that may go either way, after they are over. It reports whether the lock was kept.
func (c *contest) either() bool {
	c.t.Helper()
	// A holder whose lease ended lets its node go as soon as it can; one that keeps it, does so by a renewal from now
	// on.
	before := c.lease.ValidUntil()
	lost := false
	if !await.Within(patience, func() bool {
		lost = len(c.second) > 0 || c.lease.Err() != nil
		return lost || c.lease.ValidUntil().After(before)
	}) {
		c.t.Fatalf("%s: the lease is neither renewed nor lost", c.path)
	}
	if !lost && c.handOver() {
		return true
	}
	c.decided() // a busy machine may still cost it the lease, by now
	return false
}

// addrs are the members' addresses for clients that share proxies.
func addrs(members ...*zookeeper.Member) []string {
	all := make([]string, len(members))
	for i, m := range members {
		all[i] = m.Addr()
	}
	return all
}

// unique makes names of contests.
var unique struct {
	sync.Mutex
	n int
}

func name(prefix string) string {
	unique.Lock()
	defer unique.Unlock()
	unique.n++
	return fmt.Sprintf("%s-%d", prefix, unique.n)
}
