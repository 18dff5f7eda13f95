//go:build linux

package interop_test

import (
	"testing"

	"github.com/gocurator/curator/integration/interop/godriver"
)

// Curator's LeaderSelector stands on its mutex, so a leader in Java and a holder of our mutex exclude each other.
func TestALeaderSelectorAndAMutexExcludeEachOther(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{java, oldJava} {
		t.Run(kind, func(t *testing.T) {
			w := w.in(t)
			path := "/leader/" + name("l")
			leader := w.contender(kind, godriver.Order{Recipe: "selector", Path: path})
			mutex := w.mutex(ours, path)

			leader.acquire()
			wait := mutex.queue(path)
			wait.waits()
			end := leader.release()
			if got := wait.granted(); got.Ended < end.Began {
				t.Error("let in beside the leader")
			}
			again := leader.queue(path)
			again.waits()
			end = mutex.release()
			if got := again.granted(); got.Ended < end.Began {
				t.Error("the leader was let in beside the holder")
			}
			leader.release()
			w.awaitChildren(path, 0)
		})
	}
}
