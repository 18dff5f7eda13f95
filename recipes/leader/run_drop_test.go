package leader_test

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// An errorLog is what a client has logged at Error.
type errorLog struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *errorLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *errorLog) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.all.String(), text)
}

// The program has no lease of a term that a selector or a latch holds for it.
func TestTermsAreNotReportedAsDropped(t *testing.T) {
	server := zktest.NewServer()
	defer server.Close()
	var errors errorLog
	client, err := framework.NewClient("zk:2181", framework.WithDialer(server.DialContext),
		framework.WithLogger(slog.New(slog.NewTextHandler(&errors, &slog.HandlerOptions{Level: slog.LevelError}))))
	must(t, err)
	defer client.Close()
	// collected waits until a lease that is dropped now is reported: those that were dropped before are by then, too.
	collected := func(path string) {
		t.Helper()
		func() {
			if _, err := locks.NewInterProcessMutex(client, path).Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}()
		await.Until(t, time.Minute, "the report of "+path, func() bool { runtime.GC(); return errors.has("path=" + path) })
	}
	selector := leader.NewLeaderSelector(client, "/term")
	wantErr(t, selector.RunOnce(t.Context(), func(context.Context) error { collected("/in/the/term"); return nil }))
	latch := leader.NewLeaderLatch(client, "/latch")
	must(t, latch.Start(t.Context()))
	if _, err := latch.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	collected("/in/the/latch")
	wantErr(t, latch.Close())
	for _, path := range []string{"/behind/1", "/behind/2"} {
		collected(path)
	}
	for _, path := range []string{"/term", "/latch"} {
		if errors.has("path=" + path + " ") {
			t.Errorf("%s: got a report, want none: the library holds the term", path)
		}
	}
}
