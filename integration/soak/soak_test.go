//go:build linux

package soak_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/cache/cachetest"
	"github.com/gocurator/curator/retry"
)

var (
	length  = flag.Duration("for", 0, "how long the soak runs; about ten seconds if zero")
	picture = flag.String("picture", "", "the file that gets the figures over time, as SVG")
	report  = flag.String("report", "", "the file that gets the figures, as text")
)

const (
	clients = 4
	// session outlasts the restart of a server on a machine that is busy.
	session = 10 * time.Second
	// patience bounds everything that must happen at some time.
	patience = 2 * time.Minute
)

// A soak is the load and what it works on.
type soak struct {
	t        *testing.T
	ensemble *zookeeper.Ensemble
	clients  []*framework.Client
	homes    []*home
	actors   []*actor
	pace     pace
	history  history
	rest     counts                  // what there was before the load began, and must be whenever it stands still
	details  [figures]map[string]int // what those counts are made of

	// Each step of an actor holds gate for reading, so a writer finds the load between steps.
	gate      sync.RWMutex
	stop      context.CancelFunc
	acting    sync.WaitGroup
	disturbed int // how often links were reset, sessions ended and servers restarted
	failures  failures
	total     total
}

// A pace is how quickly things happen.
type pace struct {
	load  time.Duration // between two settled moments
	pause time.Duration // between two steps of an actor, on average
}

func TestNothingGrowsUnderAMixedLoad(t *testing.T) {
	s := &soak{t: t, pace: pace{load: 2500 * time.Millisecond, pause: 150 * time.Millisecond}}
	least := 2
	if *length > 0 {
		s.pace, least = pace{load: 24 * time.Second, pause: 1500 * time.Millisecond}, 8
	}
	s.ensemble = zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Direct: true})
	idle := s.settle(nil)
	s.begin()
	defer s.end()
	begun := time.Now()
	for len(s.history.samples) < least || time.Since(begun) < *length {
		s.disturb()
		s.gate.Lock()
		s.moment(time.Since(begun))
		s.gate.Unlock()
		if t.Failed() {
			break
		}
	}
	s.end()
	s.settle(&idle)
	s.publish(*picture, s.history.draw)
	for _, growth := range s.history.growth() {
		t.Error(growth)
	}
}

// begin connects the clients and starts the load.
func (s *soak) begin() {
	s.t.Helper()
	for range clients {
		s.clients = append(s.clients, s.connect())
	}
	// A watch goes with its directory, so directories of most locks stay; others are containers, which go when empty.
	for _, path := range []string{
		"/soak", "/soak/mutex", "/soak/rw", "/soak/semaphore", "/soak/semaphore/leases", "/soak/semaphore/locks", "/soak/retained",
		"/soak/revoked", "/soak/selector", "/soak/latch", "/soak/nodes", "/soak/still", "/soak/still/child", "/soak/number", "/soak/queued",
		cachetest.Root,
	} {
		if _, _, err := s.clients[0].Create(s.t.Context(), path, []byte{}); err != nil {
			s.t.Fatal(err)
		}
	}
	for i, c := range s.clients {
		s.homes = append(s.homes, s.settleDown(c, i))
	}
	for _, h := range s.homes {
		s.actors = append(s.actors, h.locks()...)
		s.actors = append(s.actors, h.recipes(s)...)
	}
	ctx, stop := context.WithCancel(s.t.Context())
	s.stop = stop
	s.gate.Lock()
	defer s.gate.Unlock()
	for _, a := range s.actors {
		s.acting.Go(func() { s.act(ctx, a) })
	}
	s.rest, s.details = s.settle(nil), s.detail()
}

func (s *soak) connect() *framework.Client {
	client, err := framework.NewClient(s.ensemble.ConnectString(),
		framework.WithSessionTimeout(session),
		framework.WithConnectionTimeout(patience),
		framework.WithRetryPolicy(retry.ExponentialBackoff(50*time.Millisecond, 10)))
	if err != nil {
		s.t.Error(err)
	}
	return client
}

// moment samples the figures. The load stands still, and holds nothing.
func (s *soak) moment(at time.Duration) {
	s.tidy()
	got := s.settle(&s.rest)
	s.history.samples = append(s.history.samples, sample{at: at, counts: got, memory: measureMemory()})
	s.history.steps, s.history.failures, s.history.disturbed = s.steps(), s.failures.text(), s.disturbed
	s.publish(*report, s.history.text)
	for _, a := range s.actors {
		a.seen = a.done.Load()
	}
}

// tidy makes the tree of the caches as it was in the beginning, and checks that they have it.
func (s *soak) tidy() {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	s.remove(ctx, cachetest.Root)
	if _, _, err := s.clients[0].Create(ctx, cachetest.Root, nil); err != nil {
		s.t.Errorf("create %s: %v", cachetest.Root, err)
	}
	for i, h := range s.homes {
		if err := h.tree.Sync(ctx); err != nil || h.tree.Len() != 1 {
			s.t.Errorf("client %d: its cache has %d nodes after Sync (%v), want the root", i, h.tree.Len(), err)
		}
	}
}

// remove deletes a node, which may have gone, with everything below it.
func (s *soak) remove(ctx context.Context, path string) {
	err := s.clients[0].Delete(ctx, path, -1, framework.DeletingChildrenIfNeeded())
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		s.t.Errorf("delete %s: %v", path, err)
	}
}

// end stops the load and closes everything. It may be called again.
func (s *soak) end() {
	if s.stop == nil {
		return
	}
	s.stop()
	s.stop = nil
	s.acting.Wait()
	s.t.Log(s.total.check(s))
	for _, h := range s.homes {
		h.close(s.t)
	}
	s.remove(s.t.Context(), "/soak")
	s.remove(s.t.Context(), cachetest.Root)
	for _, c := range s.clients {
		if err := c.Close(); err != nil {
			s.t.Errorf("close: %v", err)
		}
	}
}

// pause lets about d pass, or ctx end.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d/2 + rand.N(d))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// publish writes a file, if it has a name.
func (s *soak) publish(file string, text func() string) {
	if file == "" {
		return
	}
	if err := os.WriteFile(file, []byte(text()), 0o600); err != nil {
		s.t.Error(err)
	}
}
