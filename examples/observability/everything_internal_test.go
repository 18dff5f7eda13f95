package observability

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
)

// everything uses all that Telemetry counts and shows, with a lock, a retained lock and a latch that are all "l", and
// calls look while it lasts.
func everything(t *testing.T, look func(t *testing.T, w world)) {
	t.Helper()
	inBubble(t, func(t *testing.T, w world) {
		link := w.server.NewLink()
		link.SetLatency(time.Millisecond)
		client := w.client(t, link.DialContext)
		w.Watch("billing", client)
		// Behind a writer a hand-over takes a listing, and so a while.
		mutex := locks.NewInterProcessReadWriteLock(client, "/lock", w.Lock("l")).WriteLock()
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = mutex.Acquire(t.Context()) }()
		time.Sleep(time.Second)
		if err := lease.Release(); err != nil { // the waiter holds it then
			t.Fatal(err)
		}
		if err := locks.AttemptRevoke(t.Context(), client, lockNode(w)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := w.server.Delete(lockNode(w)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if lease, err = mutex.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		retained := locks.NewInterProcessMutex(client, "/retained", w.Lock("l")).Retained(locks.RetainIdle(time.Second))
		for range 3 { // the node of the third stays
			if err := locks.Do(t.Context(), retained, func(context.Context) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		workers := cache.NewCuratorCache(client, "/workers")
		if err := workers.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.WatchCache("workers", workers)
		orders := nodes.NewPersistentNode(client, "/services/orders", nil)
		if err := orders.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.WatchRegistration("orders", orders)
		latch := leader.NewLeaderLatch(client, "/leaders", w.Election("l"))
		if err := latch.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.WatchLeader("l", latch)
		if _, _, err := client.Get(t.Context(), "/missing"); err == nil {
			t.Fatal("got a node that is not there")
		}
		if _, err := locks.NewInterProcessMutex(client, "/retained", w.Lock("l")).TryAcquire(t.Context()); err == nil {
			t.Fatal("got a lock that is taken")
		}
		synctest.Wait()
		look(t, w)
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
	})
}

func lockNode(w world) string { return "/lock/" + w.server.Children("/lock")[0] }
