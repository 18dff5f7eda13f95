package cache_test

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// topFrames are the topmost frames of the library, of all goroutines, when all of the bubble wait. The one way to wait,
// which all recipes share, does not say for what.
func topFrames() (frames []string) {
	synctest.Wait()
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	ours := regexp.MustCompile(`(?m)^github\.com/gocurator/curator/(?:framework|recipes)/(?:[\w/]+/)?(\w+\.\S+)\(`)
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		for _, match := range ours.FindAllStringSubmatch(stack, -1) {
			if match[1] != "session.Waiter.Wait" && !strings.HasPrefix(match[1], "zktest.") && !strings.Contains(match[1], "_test.") {
				frames = append(frames, match[1])
				break
			}
		}
	}
	return frames
}

// The runbook has a row for each of these frames.
func TestDumpOfWhatWaitsForACacheHasTheFramesOfTheRunbook(t *testing.T) {
	shows := func(when, frame string) {
		t.Helper()
		if got := topFrames(); !slices.Contains(got, frame) {
			t.Errorf("%s: got topmost frames %q, want %s among them", when, got, frame)
		}
	}
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client, _ := newClient(t, server)
		c := cache.NewCuratorCache(client, "/tree")
		server.Freeze()
		started := make(chan error)
		go func() { started <- c.Start(t.Context()) }()
		shows("a cache that starts", "cache.(*CuratorCache).await")
		server.Unfreeze()
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		shows("a cache that has everything", "cache.(*follower).followIn")
		_ = c.Close()
	})
}
