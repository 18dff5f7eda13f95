//go:build linux

package main_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// A server is wiped while one client holds a lock and another waits for it. Both clients come back by themselves, and
// the waiter gets the lock, within a session timeout and a second.
func TestClientsAreBackAtAServerThatWasWiped(t *testing.T) {
	t.Parallel()
	const session = 10 * time.Second
	srv := zookeeper.Start(t, zookeeper.Config{})
	connected := func() *framework.Client { return connect(t, session, []string{srv.Addr()}) }
	holder, waiter := connected(), connected()
	for range 300 { // a history that the wiped server does not have
		ctx, cancel := await.Context(t.Context(), t, patience, "a node to be created")
		_, _, err := holder.Create(ctx, "/old-", nil, framework.WithMode(framework.PersistentSequential))
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
	lease := acquire(t, holder, "/younger/ours")
	admitted := make(chan time.Time, 1)
	go func() {
		ctx := t.Context()
		if _, err := locks.NewInterProcessMutex(waiter, "/younger/ours").Acquire(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("the waiter: %v", err)
		}
		admitted <- time.Now()
	}()
	awaitChildren(t, waiter, "/younger/ours", 2)

	var java *driver
	var javaWaits <-chan driverAnswer
	for language, command := range otherLanguages(t) {
		if language == "kazoo" {
			continue
		}
		java = startDriver(t, command)
		for _, who := range []string{"holder", "waiter"} {
			java.must(t, map[string]any{"op": "open", "client": who, "connect": srv.Addr(), "session": session.Milliseconds(), "data": "x"})
			java.must(t, map[string]any{
				"op": "contender", "who": who, "client": who, "recipe": "mutex", "path": "/younger/java", "data": "x", "n": 1, "ms": -1,
			})
		}
		java.must(t, map[string]any{"op": "acquire", "who": "holder", "ms": -1, "n": 1})
		javaWaits = java.order(map[string]any{"op": "acquire", "who": "waiter", "ms": -1, "n": 1})
		awaitChildren(t, waiter, "/younger/java", 2)
	}

	const busy = time.Minute // for a busy machine; a client that is locked out waits for ever
	wiped := time.Now()
	srv.Wipe()
	serving := time.Now()
	<-lease.Done()
	knew := time.Now()
	var back time.Time
	select {
	case back = <-admitted:
	case <-time.After(session + 2*busy):
		await.Fatalf(t, "the waiter to get the lock; %v have passed since the server serves again", time.Since(serving))
	}
	if d := back.Sub(wiped); d > session+busy && back.Sub(serving) > busy {
		t.Errorf("the waiter has the lock %v after the server was wiped, %v after it serves again", d, back.Sub(serving))
	}
	ctx, cancel := await.Context(t.Context(), t, patience, "an answer to the holder's client")
	stat, err := holder.Exists(ctx, "/old-0000000000")
	cancel()
	if err != nil {
		t.Fatalf("the holder's client: %v", err)
	}
	if stat != nil {
		t.Errorf("the holder's client: got %v, want no node", stat)
	}
	t.Logf("wiped; it serves again after %v; holder knew after %v, waiter admitted after %v", serving.Sub(wiped), knew.Sub(wiped), back.Sub(wiped))
	if java != nil {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		select {
		case a := <-javaWaits:
			t.Logf("Java's waiter after %v: admitted %t, error %q", a.at().Sub(wiped), a.OK, a.Error)
		case <-ctx.Done():
			t.Logf("Java's waiter: nothing in half a minute")
		}
	}
}
