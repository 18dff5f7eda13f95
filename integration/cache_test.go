//go:build unix

package integration_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/cache/cachetest"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// A second client changes the tree while the connection of the first breaks, its session ends, and the server restarts.
// Servers before 3.6 have no watches on trees: run it with ZOOKEEPER_VERSION=3.5.10, too.
func TestCachesOnAServerOfAnyAgeHaveWhatItHasAtEveryQuietMoment(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{SuperPassword: superPassword})
	admin := &administrator{t: t, server: server}
	admin.connect()
	t.Cleanup(func() { admin.conn.Close() })
	link := admin.NewLink()
	client, changer := newClient(t, server, framework.WithDialer(link.DialContext)), newClient(t, server)
	followers := cachetest.Followers(client)
	for _, f := range followers {
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const seed, rounds, changes = 1, 8, 50
	dice := rand.New(rand.NewPCG(seed, 0))
	for round := range rounds {
		for i := range changes {
			if err := cachetest.Change(t.Context(), changer, dice); err != nil {
				t.Fatal(err)
			}
			if round == rounds/2 && i == changes/2 {
				admin.Restart()
			}
			if round > 0 {
				disturb(t, admin, client, link, dice)
			}
		}
		link.Heal()
		wantTree(t, followers, changer)
	}
	for _, f := range followers {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if strings.HasPrefix(zookeeper.Version(), "3.4.") {
		return // it removes watches with their connection only
	}
	awaitWatches(t, server, "0")
}

// disturb does something to the caches' connection, now and then.
func disturb(t *testing.T, admin *administrator, client *framework.Client, link *lockstest.Link, dice *rand.Rand) {
	switch dice.IntN(25) {
	case 0:
		link.Cut()
	case 1:
		link.Reset()
	case 2:
		link.DropReply(lockstest.GetData)
	case 3:
		if !client.State().IsConnected() {
			return
		}
		now, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if s, err := client.Session(now); err == nil {
			admin.ExpireSession(link, s.ID())
		}
	case 4, 5:
		link.Heal()
	default:
		time.Sleep(time.Duration(dice.IntN(3)) * time.Millisecond)
	}
}

// wantTree wants caches to have what another client reads once Sync has returned, and their events soon after.
func wantTree(t *testing.T, followers []*cachetest.Follower, other *framework.Client) {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, "Sync of the caches")
	defer cancel()
	var versions []cache.Snapshot // taken before the tree is read, which takes time
	for _, f := range followers {
		if err := f.Sync(ctx); err != nil {
			t.Fatalf("%s: %v", f.Name(), err)
		}
		versions = append(versions, f.Snapshot())
	}
	tree, err := cachetest.Tree(ctx, other)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range followers {
		if differs := f.Differs(versions[i], tree); differs != "" {
			t.Errorf("%s: after Sync %s", f.Name(), differs)
		}
		var differs string
		if !await.Within(patience, func() bool { differs = f.EventsDiffer(tree); return differs == "" }) {
			t.Fatalf("%s: %s", f.Name(), differs)
		}
		if n := f.Stats().Found; n > 0 {
			t.Errorf("%s: %d differences were not reported by events", f.Name(), n)
		}
	}
}
