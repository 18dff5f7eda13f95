//go:build linux

package chaos_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/retry"
)

// A follower is a cache of this process, and what it has reported.
type follower struct {
	name   string
	client *framework.Client
	cache  *cache.CuratorCache

	mu     sync.Mutex
	events []change
}

// A change is what an event says of a node: its state, or that it is gone.
type change struct {
	state

	kind cache.Kind
}

// connect makes a client of this process.
func connect(t testing.TB, connectString string) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(connectString, framework.WithSessionTimeout(sessionTimeout),
		framework.WithRetryPolicy(retry.NTimes(int(patience/retryPause), retryPause)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func startFollower(t testing.TB, name, connectString string) *follower {
	t.Helper()
	f := &follower{name: name, client: connect(t, connectString)}
	f.cache = cache.NewCuratorCache(f.client, data)
	stop := f.cache.OnEvent(func(e cache.Event) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if n := e.Node(); n.Path != "" {
			f.events = append(f.events, change{state{n.Path, string(n.Data), n.Stat.Mzxid}, e.Kind})
		}
	})
	t.Cleanup(func() { stop(); _ = f.cache.Close() })
	ctx, cancel := await.Context(t.Context(), t, patience, name+" to start")
	defer cancel()
	if err := f.cache.Start(ctx); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	return f
}

// sync waits until the cache has what the servers have executed by now.
func (f *follower) sync(t testing.TB) {
	t.Helper()
	ctx, cancel := await.Context(context.Background(), t, patience, f.name+" to be up to date")
	defer cancel()
	if err := f.cache.Sync(ctx); err != nil {
		t.Errorf("%s: %v", f.name, err)
	}
}

// wrong compares the follower with the servers' log. Each event has a state that the node had, events of a node come in
// the order of the log, and in the end all is as it is there.
func (f *follower) wrong(l *ledger) (found []string, events int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	has := map[string]state{}
	for _, e := range f.events {
		before, known := has[e.path]
		switch {
		case !l.states[e.state]:
			found = append(found, fmt.Sprintf("%s reports %s at %#x with %q, which it never had", f.name, e.path, e.zxid, e.data))
		case known != (e.kind != cache.Created):
			found = append(found, fmt.Sprintf("%s reports %v of %s, which it knew: %t", f.name, e.kind, e.path, known))
		case e.kind == cache.Deleted:
		case known && e.zxid <= before.zxid:
			found = append(found, fmt.Sprintf("%s reports %s at %#x after %#x", f.name, e.path, e.zxid, before.zxid))
		}
		has[e.path] = e.state
		if e.kind == cache.Deleted {
			delete(has, e.path)
		}
	}
	for path, text := range l.data {
		if got, ok := has[path]; !ok || got.data != text {
			found = append(found, fmt.Sprintf("%s has %s: %t, with %q, want %q", f.name, path, ok, got.data, text))
		}
	}
	for path := range has {
		if _, ok := l.data[path]; !ok {
			found = append(found, fmt.Sprintf("%s has %s, which is gone", f.name, path))
		}
	}
	return found, len(f.events)
}
