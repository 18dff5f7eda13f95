//go:build unix

package integration_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// mirror keeps the set of nodes that a tree has, as an observer learns of them.
type mirror struct {
	mu    sync.Mutex
	nodes map[string]bool
	set   int // times that the watch was set
	err   error
	other []string // events that are not of the tree
}

func (m *mirror) Watching() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set++
}

func (*mirror) Lost() {}

func (m *mirror) Refused(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

func (m *mirror) Changed(kind zk.EventType, path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case path != "/tree" && !strings.HasPrefix(path, "/tree/"):
		m.other = append(m.other, path)
	case kind == zk.EventNodeCreated:
		m.nodes[path] = true
	case kind == zk.EventNodeDeleted:
		delete(m.nodes, path)
	}
}

func (m *mirror) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !await.Within(patience, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return ok()
	}) {
		m.mu.Lock()
		defer m.mu.Unlock()
		await.Fatalf(t, "%s; got %d nodes, set %d times, %v", what, len(m.nodes), m.set, m.err)
	}
}

// One client makes and deletes trees; another one watches, with watches of other kinds on the same nodes, across a
// restart.
func TestATreeObserverHearsOfEveryNodeOfARealServer(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	client, other := newClient(t, server), newClient(t, server)
	s, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := &mirror{nodes: map[string]bool{}}
	if err := s.WatchTree("/tree", m); err != nil {
		t.Fatal(err)
	}
	m.await(t, "the watch to be set or refused", func() bool { return m.set > 0 || errors.Is(m.err, framework.ErrUnsupported) })
	if m.set == 0 {
		if version := zookeeper.Version(); !strings.HasPrefix(version, "3.4.") && !strings.HasPrefix(version, "3.5.") {
			t.Fatalf("server %s: got %v, want the watch set", version, m.err)
		}
		t.Skip("the server is older than 3.6")
	}
	watches := []session.Watch{s.WatchDataPersistent("/tree", func() {}), s.WatchChildren("/tree", func() {}), s.WatchChildren("/tree/d1", func() {})}
	for round := range 2 {
		want := map[string]bool{"/tree": true}
		for i := range 20 {
			for j := range 20 {
				dir := fmt.Sprintf("/tree/d%d", i)
				path := fmt.Sprintf("%s/n%d", dir, j)
				want[dir], want[path] = true, true
				for _, path := range []string{path, fmt.Sprintf("/tree2/d%d/n%d", i, j)} {
					if _, _, err := other.Create(t.Context(), path, nil, framework.CreatingParentsIfNeeded()); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		m.await(t, "the observer to hear of all nodes", func() bool { return maps.Equal(m.nodes, want) })
		if _, err := other.Set(t.Context(), "/tree", fmt.Append(nil, round), -1); err != nil {
			t.Fatal(err)
		}
		m.await(t, "the data watch to see the change", func() bool { return string(watches[0].View().Data) == fmt.Sprint(round) })
		for _, path := range []string{"/tree", "/tree2"} {
			if err := other.Delete(t.Context(), path, -1, framework.DeletingChildrenIfNeeded()); err != nil {
				t.Fatal(err)
			}
		}
		m.await(t, "the observer to hear that all nodes are gone", func() bool { return len(m.nodes) == 0 })
		if round == 0 {
			server.Kill()
			server.Restart()
			m.await(t, "the watch to be set again", func() bool { return m.set > 1 })
		}
	}
	for _, w := range watches {
		w.Stop()
	}
	s.UnwatchTree("/tree", m)
	awaitWatches(t, server, "0")
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.other) > 0 {
		slices.Sort(m.other)
		t.Errorf("heard of %q", m.other)
	}
}

// Servers before 3.6 answer that they do not know the request, and close the connection. Those with the other one of
// ZooKeeper's two watch managers fail in it. A lease is held meanwhile. Run it with ZOOKEEPER_VERSION=3.5.10 too.
func TestATreeObserverLearnsWhetherTheServerHasSuchWatchesBesideALease(t *testing.T) {
	older := strings.HasPrefix(zookeeper.Version(), "3.4.") || strings.HasPrefix(zookeeper.Version(), "3.5.")
	t.Run("WatchManager", func(t *testing.T) { learnsOfTrees(t, zookeeper.Config{}, !older) })
	t.Run("WatchManagerOptimized", func(t *testing.T) {
		optimized := "-Dzookeeper.watchManagerName=org.apache.zookeeper.server.watch.WatchManagerOptimized"
		learnsOfTrees(t, zookeeper.Config{JavaOptions: []string{optimized}}, false)
	})
}

func learnsOfTrees(t *testing.T, config zookeeper.Config, want bool) {
	server := zookeeper.Start(t, config)
	var mu sync.Mutex
	var states []framework.State
	client := newClient(t, server, framework.WithStateListener(func(change framework.StateChange) {
		mu.Lock()
		defer mu.Unlock()
		states = append(states, change.State)
	}))
	s, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lease, err := s.Bind(func(cause error) { t.Errorf("the lease ended: %v", cause) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &mirror{nodes: map[string]bool{}}
	if err := s.WatchTree("/tree", m); err != nil {
		t.Fatal(err)
	}
	var refused error
	m.await(t, "the watch to be set or refused", func() bool { refused = m.err; return m.set > 0 || refused != nil })
	if got := refused == nil; got != want {
		t.Errorf("server %s: got refused: %v, want watches of trees: %t", zookeeper.Version(), refused, want)
	}
	if refused != nil {
		if err := s.WatchTree("/tree", m); !errors.Is(refused, framework.ErrUnsupported) || !errors.Is(err, framework.ErrUnsupported) {
			t.Errorf("got %v and %v, want ErrUnsupported", refused, err)
		}
	}
	if _, err := client.Exists(t.Context(), "/"); err != nil {
		t.Errorf("the client is of no use any more: %v", err)
	}
	if err := lease.Err(); err != nil {
		t.Errorf("got lease %v, want it valid", err)
	}
	lease.Release()
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(states, []framework.State{framework.StateConnected}) {
		t.Errorf("got states %v, want the first connection alone", states)
	}
}
