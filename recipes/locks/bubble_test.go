package locks_test

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
	"github.com/gocurator/curator/retry"
)

const (
	sessionTimeout = 10 * time.Second
	path           = "/locks/a"
)

// inBubble runs a test with a server of its own. What clients leave behind there, watches or connections, is an error.
func inBubble(t *testing.T, test func(t *testing.T, server *zktest.Server), opts ...zktest.Option) {
	t.Helper()
	peers, events, observed, servers = nil, &journaltest.Journal{}, nil, journaltest.Servers{}
	defer func() { events = nil }()
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t, opts...)
		observe(t, server)
		t.Cleanup(func() {
			for _, problem := range journaltest.Check(events.Events(), servers) {
				t.Errorf("the journal says: %v", problem)
			}
		})
		test(t, server)
	})
}

// events is the journal of the present bubble, which is checked at its end; nil outside inBubble.
var events *journaltest.Journal

var (
	observed []*zktest.Server
	servers  journaltest.Servers
)

// observe writes a server's transactions into the journal.
func observe(t *testing.T, server *zktest.Server) {
	t.Helper()
	if events == nil {
		t.Fatal("the clients of newPeer need the journal of inBubble")
	}
	if !slices.Contains(observed, server) {
		observed = append(observed, server)
		server.ObserveTransactions(events.Transaction)
	}
}

// must ends the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A peer is a client with a network path of its own. It observes its steps.
type peer struct {
	*framework.Client
	link    *lockstest.Link // faults, and what was sent
	cable   *zktest.Link    // latency
	journal steps.Observer

	next atomic.Pointer[meanwhile]
}

// A meanwhile is what happens once, after a step.
type meanwhile struct {
	at      steps.Kind
	happens func(steps.Step)
}

// meanwhile has something happen after the next step of a kind, at which no mutex is held. The step's goroutine goes on
// when the news of it has come.
func (p *peer) meanwhile(at steps.Kind, happens func(steps.Step)) {
	p.next.Store(&meanwhile{at, happens})
}

// Step is for steps.Observer.
func (p *peer) Step(s steps.Step) {
	p.journal.Step(s)
	if next := p.next.Load(); next != nil && next.at == s.Kind && p.next.CompareAndSwap(next, nil) {
		next.happens(s)
		time.Sleep(10 * time.Millisecond)
	}
}

// peers are the clients of the present test.
var peers []*framework.Client

func newPeer(t *testing.T, server *zktest.Server, opts ...framework.Option) *peer {
	t.Helper()
	return newPeerAt(t, server, "", opts...)
}

func newPeerAt(t *testing.T, server *zktest.Server, chroot string, opts ...framework.Option) *peer {
	t.Helper()
	observe(t, server)
	p := &peer{cable: server.NewLink()}
	p.link = lockstest.NewLink("zktest:2181", p.cable.DialContext)
	client, err := framework.NewClient("zktest:2181"+chroot, append([]framework.Option{
		framework.WithDialer(p.link.DialContext), framework.WithSessionTimeout(sessionTimeout),
		framework.WithRetryPolicy(retry.NTimes(5, 10*time.Millisecond)),
		framework.WithTrace(framework.Trace{OrphanFound: events.OrphanFound("client")}),
	}, opts...)...)
	must(t, err)
	t.Cleanup(func() {
		p.link.Heal()
		_ = client.Close()
	})
	must(t, client.BlockUntilConnected(t.Context()))
	p.Client = client
	peers = append(peers, client)
	p.journal = events.Of(fmt.Sprintf("client %d", len(peers)))
	steps.Attach(client, p)
	return p
}

func (p *peer) mutex(opts ...locks.Option) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(p.Client, path, opts...)
}

// expire ends a session as an administrator does.
func expire(server *zktest.Server, session int64) {
	events.Kill(session)
	server.ExpireSession(session)
}

// acquire gets a lease, which is released at the end of the test unless it was before.
func acquire(t *testing.T, lock locks.Lock) *locks.Lease {
	t.Helper()
	return acquireIn(t.Context(), t, lock)
}

func acquireIn(ctx context.Context, t *testing.T, lock locks.Lock) *locks.Lease {
	t.Helper()
	lease, err := lock.Acquire(ctx)
	must(t, err)
	t.Cleanup(func() { _ = lease.Release() })
	return lease
}

func release(t *testing.T, lease *locks.Lease) {
	t.Helper()
	wantErr(t, lease.Release())
}

// readsAgain is how often a watched node is read again in so long a wait: after a session timeout, two, four and so on,
// and every 64.
func readsAgain(wait time.Duration) int {
	timeouts := uint(wait / sessionTimeout)
	return bits.Len(min(timeouts, 64)) + int(max(timeouts, 64)-64)/64
}

// A result is what came of an Acquire on another goroutine.
type result struct {
	lease *locks.Lease
	err   error
	at    time.Time
}

// begin acquires on another goroutine. It returns when everybody in the bubble waits.
func begin(ctx context.Context, t *testing.T, lock locks.Lock) <-chan result {
	t.Helper()
	results := make(chan result, 1)
	go func() {
		lease, err := lock.Acquire(ctx)
		results <- result{lease, err, time.Now()}
	}()
	synctest.Wait()
	return results
}

// soon takes the result of an Acquire that has to end within an hour of the bubble's time: without a bound, the
// heartbeats of a session would let a bubble go on for ever.
func soon(t *testing.T, results <-chan result) result {
	t.Helper()
	select {
	case r := <-results:
		return r
	case <-time.After(time.Hour):
		t.Fatal("got no return of Acquire within an hour, want one")
		return result{}
	}
}

// must takes the lease of a result.
func (r result) must(t *testing.T) *locks.Lease {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { _ = r.lease.Release() })
	return r.lease
}

func isWaiting(t *testing.T, results <-chan result) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-results:
		t.Fatalf("it should wait, got %v, %v", r.lease, r.err)
	default:
	}
}
