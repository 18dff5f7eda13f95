package locks_test

import (
	"context"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// topFrames are the topmost frames of the library, of all goroutines, when all of the bubble wait. The one way to wait,
// which all recipes share, does not say for what.
func topFrames() (frames []string) {
	synctest.Wait()
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	ours := regexp.MustCompile(`(?m)^github\.com/gocurator/curator/(?:framework|recipes)/(?:[\w/]+/)?(\w+\.\S+)\(`)
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		for _, match := range ours.FindAllStringSubmatch(strings.ReplaceAll(stack, "curator/framework.", "curator/framework/framework."), -1) {
			if match[1] != "session.Waiter.Wait" && !strings.HasPrefix(match[1], "zktest.") && !strings.Contains(match[1], "_test.") {
				frames = append(frames, match[1])
				break
			}
		}
	}
	return frames
}

// The runbook has a row for each of these frames.
func TestDumpOfWhatWaitsHasTheFramesOfTheRunbook(t *testing.T) {
	shows := func(t *testing.T, when, frame string) {
		t.Helper()
		if got := topFrames(); !slices.Contains(got, frame) {
			t.Errorf("%s: got topmost frames %q, want %s among them", when, got, frame)
		}
	}
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client := newPeer(t, server).Client
		mutex, semaphore := locks.NewInterProcessMutex(client, "/lock"), locks.NewInterProcessSemaphoreV2(client, "/leases", 1)
		retained := locks.NewInterProcessMutex(client, "/retained").Retained()
		lease := acquire(t, mutex)
		acquire(t, semaphore)
		acquire(t, retained)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		waiting := []<-chan result{begin(ctx, t, mutex), begin(ctx, t, semaphore), begin(ctx, t, retained)}
		shows(t, "a waiter", "queue.(*Contender).outlast")
		shows(t, "a waiter for a semaphore's lease", "locks.(*batch).await")
		shows(t, "a waiter for a retained lock", "locks.(*retainedWaiter).awaitBaton")
		shows(t, "a client", "live.(*Runner).runClock")
		shows(t, "a connection", "transport.(*link).writeLoop")
		tracing := make(chan struct{})
		slow := locks.WithTrace(locks.Trace{AcquireStart: func(ctx context.Context, _ locks.AcquireStart) context.Context {
			<-tracing
			return ctx
		}})
		waiting = append(waiting, begin(ctx, t, locks.NewInterProcessMutex(client, "/traced", slow)))
		shows(t, "an acquire whose trace blocks", "locks.(*reporter).acquireStart")
		close(tracing)
		cancel()
		for _, w := range waiting {
			_ = soon(t, w)
		}
		server.Freeze()
		entering := begin(t.Context(), t, locks.NewInterProcessMutex(client, "/free"))
		shows(t, "an acquire at a frozen server", "live.(*sender).call")
		go func() { _, _, _ = client.Get(t.Context(), "/lock") }()
		shows(t, "an operation at a frozen server", "live.(*sender).call")
		others := func(frame string) bool { return frame != "live.(*sender).call" }
		if got := len(slices.DeleteFunc(topFrames(), others)); got != 2 {
			t.Errorf("got %d goroutines that wait for an answer, want the acquire's and the operation's", got)
		}
		go func() { _ = lease.Release() }()
		shows(t, "a release at a frozen server", "queue.(*Grant).AwaitRemoval")
		server.RefuseConnections(true)
		server.CutAll()
		server.Unfreeze()
		go func() { _, _, _ = client.Get(t.Context(), "/lock") }()
		time.Sleep(time.Second)
		shows(t, "an operation without a connection", "framework.(*core).attachedSession")
		shows(t, "an acquire that has lost its connection", "live.(*base).waitAttached")
		shows(t, "a client without a server", "transport.(*Transport).sleep")
		server.RefuseConnections(false)
		_ = soon(t, entering)
		time.Sleep(time.Minute)
	})
}
