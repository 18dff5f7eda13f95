//go:build linux

package main_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/cache/cachetest"
)

// Caches whose server is cut off from the leader, in one round the leader itself, are behind. Once it is back they have
// what all servers have, whether their clients stayed with it or went to another one.
func TestCachesOnAServerThatWasCutOffHaveWhatAllServersHave(t *testing.T) {
	t.Parallel()
	const rounds, changes, seed = 3, 40, 1
	e := start(t, quick)
	leader, followers := settled(t, e)
	if t.Failed() {
		return
	}
	everywhere := addrs(e.Members()...)
	caches := map[string][]*cachetest.Follower{
		"a client of the follower that is cut off": startCaches(t, connect(t, time.Minute, addrs(followers[0]))),
		"a client of the leader":                   startCaches(t, connect(t, time.Minute, addrs(leader))),
		"a client of all servers":                  startCaches(t, connect(t, time.Minute, everywhere)),
	}
	changer := connect(t, time.Minute, everywhere)
	dice := rand.New(rand.NewPCG(seed, 0))
	change := func() {
		for range changes {
			ctx, cancel := await.Context(t.Context(), t, patience, "a change")
			if err := cachetest.Change(ctx, changer, dice); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
	}
	for round := range rounds {
		change()
		cut := followers[0]
		if round == rounds-1 {
			cut = leader
		}
		e.Peers(cut).Cut()
		change()
		if round > 0 && !await.Within(patience, func() bool { return cut.Role() == "" }) {
			await.Fatalf(t, "a server that is cut off to serve no more")
		}
		e.Heal()
		if round > 0 {
			awaitServing(t, e)
		}
		wantTree(t, caches, changer)
	}
	for client, followers := range caches {
		for _, f := range followers {
			if err := f.Close(); err != nil {
				t.Errorf("%s: close %s: %v", client, f.Name(), err)
			}
		}
	}
	for _, m := range e.Members() {
		awaitNoWatch(t, m)
	}
}

func startCaches(t *testing.T, client *framework.Client) []*cachetest.Follower {
	t.Helper()
	all := cachetest.Followers(client)
	for _, f := range all {
		ctx, cancel := await.Context(t.Context(), t, patience, "a cache to be full")
		if err := f.Start(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	return all
}

// wantTree wants caches to have what another client reads once Sync has returned, and their events soon after.
func wantTree(t *testing.T, caches map[string][]*cachetest.Follower, other *framework.Client) {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, "Sync of the caches")
	defer cancel()
	versions := map[*cachetest.Follower]cache.Snapshot{} // taken before the tree is read, which takes time
	for client, followers := range caches {
		for _, f := range followers {
			if err := f.Sync(ctx); err != nil {
				t.Fatalf("%s: %s: %v", client, f.Name(), err)
			}
			versions[f] = f.Snapshot()
		}
	}
	tree, err := cachetest.Tree(ctx, other)
	if err != nil {
		t.Fatal(err)
	}
	for client, followers := range caches {
		for _, f := range followers {
			if differs := f.Differs(versions[f], tree); differs != "" {
				t.Errorf("%s: %s: after Sync %s", client, f.Name(), differs)
			}
			var differs string
			if !await.Within(patience, func() bool { differs = f.EventsDiffer(tree); return differs == "" }) {
				t.Fatalf("%s: %s: %s", client, f.Name(), differs)
			}
			if n := f.Stats().Found; n > 0 {
				t.Errorf("%s: %s: %d differences were not reported by events", client, f.Name(), n)
			}
		}
	}
}

// awaitNoWatch waits until a server has no watch: a cache that was closed leaves none.
func awaitNoWatch(t *testing.T, m *zookeeper.Member) {
	t.Helper()
	var watches string
	if !await.Within(patience, func() bool {
		watches = m.FourLetter("wchp")
		return strings.TrimSpace(watches) == ""
	}) {
		t.Fatalf("server %d has watches that are left of caches that were closed: %q", m.ID(), watches)
	}
}
