package leadertest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
	"github.com/gocurator/curator/retry"
)

// patience bounds the wait for what must happen.
const patience = 3 * time.Minute

// A world is what a law runs in: a server, and an election on it.
type world struct {
	t          *testing.T
	server     lockstest.Server
	kind       Kind
	exact      bool // time is: the law runs in a bubble
	path       string
	record     *lockstest.Record
	candidates []*candidate
}

func newWorld(t *testing.T, server lockstest.Server, kind Kind, exact bool) *world {
	w := &world{t: t, server: server, kind: kind, exact: exact, path: fmt.Sprintf("/laws/leader-%x", time.Now().UnixNano())}
	w.record = lockstest.NewRecord(server, w.path)
	t.Cleanup(w.cleanUp)
	return w
}

// cleanUp has every candidate leave, finds what is left at the server, and checks the journal.
func (w *world) cleanUp() {
	for _, c := range w.candidates {
		c.link.Heal()
		c.resign()
	}
	w.untilGone("no node is left", func() bool { return len(w.nodes()) == 0 })
	w.untilGone("no watch is left", func() bool { return w.server.AllWatches() == 0 })
	for _, c := range w.candidates {
		c.close()
	}
	w.record.Check(w.t, w.exact)
}

// nodes are those of candidates.
func (w *world) nodes() []string {
	return slices.DeleteFunc(w.server.Children(w.path), func(name string) bool { return name == stranger })
}

// until waits for what must come true.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	if !await.Within(patience, ok) {
		await.Fatalf(w.t, "%s; nodes %v, watches %d", what, w.nodes(), w.server.AllWatches())
	}
}

// untilGone is until for what must not stay. What stays is residue, and not a machine that is slow.
func (w *world) untilGone(what string, ok func() bool) {
	w.t.Helper()
	if !await.Within(patience, ok) {
		w.t.Fatalf("after %v it is not so that %s; nodes %v, watches %d", patience, what, w.nodes(), w.server.AllWatches())
	}
}

// A candidate is a process that takes part in an election.
type candidate struct {
	w      *world
	id     string
	client *framework.Client
	link   *lockstest.Link

	selector *leader.LeaderSelector
	campaign chan result
	cancel   context.CancelFunc // ends the campaign
	latch    *leader.LeaderLatch
	term     *locks.Lease // the newest
}

type result struct {
	term *locks.Lease
	err  error
}

// candidate makes a connected client, which does not stand for election yet.
func (w *world) candidate(id string) *candidate {
	w.t.Helper()
	c := &candidate{w: w, id: id, link: w.server.NewLink()}
	client, err := framework.NewClient(c.link.Servers(), framework.WithDialer(c.link.DialContext),
		framework.WithSessionTimeout(w.server.SessionTimeout()), framework.WithRetryPolicy(retry.NTimes(10, 50*time.Millisecond)),
		w.record.Trace(id))
	if err != nil {
		w.t.Fatal(err)
	}
	w.record.Attach(client, id)
	c.client = client
	if err := client.BlockUntilConnected(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	c.selector = leader.NewLeaderSelector(client, w.path, leader.WithID(id))
	w.candidates = append(w.candidates, c)
	return c
}

// stand has the candidate stand for election, and returns when its node is there.
func (c *candidate) stand() *candidate {
	c.w.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.w.t.Context()))
	c.cancel = cancel
	if c.w.kind == Latch {
		c.latch = leader.NewLeaderLatch(c.client, c.w.path, leader.WithID(c.id))
		if err := c.latch.Start(ctx); err != nil {
			c.w.t.Errorf("%s: %v", c.id, err)
		}
		return c
	}
	c.campaign = make(chan result, 1)
	go func(campaign chan<- result) {
		term, err := c.selector.Campaign(ctx)
		campaign <- result{term, err}
	}(c.campaign)
	c.w.until(c.id+" stands for election", func() bool {
		all, err := c.selector.Participants(ctx)
		return err == nil && slices.ContainsFunc(all, func(p leader.Participant) bool { return p.ID == c.id })
	})
	return c
}

// again has a candidate that has lost its term stand again, as a latch does by itself.
func (c *candidate) again() {
	c.w.t.Helper()
	if c.w.kind == Selector {
		c.stand()
	}
}

// lead waits until the candidate leads.
func (c *candidate) lead() *locks.Lease {
	c.w.t.Helper()
	got := c.outcome()
	if got.err != nil {
		c.w.t.Fatalf("%s: %v", c.id, got.err)
	}
	c.term = got.term
	return got.term
}

// outcome is how the wait for the leadership ends.
func (c *candidate) outcome() result {
	ctx, cancel := await.Context(context.WithoutCancel(c.w.t.Context()), c.w.t, patience, c.id+" to lead")
	defer cancel()
	if c.latch != nil {
		term, err := c.latch.Await(ctx)
		return result{term, err}
	}
	select {
	case got := <-c.campaign:
		c.campaign = nil
		return got
	case <-ctx.Done():
		return result{err: context.Cause(ctx)}
	}
}

// resign ends the term or the wait.
func (c *candidate) resign() {
	switch {
	case c.latch != nil:
		_ = c.latch.Close() // its node is found by the law, if it stays
		c.latch = nil
	case c.campaign != nil:
		c.cancel()
		if got := <-c.campaign; got.term != nil {
			_ = got.term.Release()
		}
		c.campaign = nil
	case c.term != nil:
		_ = c.term.Release() // an error if the term was lost
	}
	if c.cancel != nil {
		c.cancel()
	}
}

// close ends the candidate's client. In real time the server may be too busy to confirm it.
func (c *candidate) close() {
	if err := c.client.Close(); err != nil && c.w.exact {
		c.w.t.Errorf("%s: got %v from Close, want nil", c.id, err)
	}
}

// leads is what the process finds when it looks.
func (c *candidate) leads() bool {
	if c.w.kind == Selector {
		return c.selector.HasLeadership()
	}
	return c.latch != nil && c.latch.HasLeadership()
}

// alone fails the law if another candidate leads.
func (c *candidate) alone() {
	c.w.t.Helper()
	for _, other := range c.w.candidates {
		if other != c && other.leads() {
			c.w.t.Errorf("%s leads beside %s", c.id, other.id)
		}
	}
}
