//go:build linux

package interop_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/leader"
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

// Selectors of both languages lead in turn, fifty times, each behind the other, and stand in one list.
func TestSelectorsOfBothLanguagesLeadInOneQueue(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{java, oldJava} {
		t.Run(kind, func(t *testing.T) {
			w := w.in(t)
			path := "/leader/" + name("s")
			order := godriver.Order{Recipe: "selector", Path: path}
			leads, next := w.contender(kind, order), w.contender(ours, order)
			observer := w.selector(path)

			leads.acquire()
			for range 50 {
				wait := next.queue(path)
				all, err := observer.Participants(context.Background())
				if err != nil || len(all) != 2 || !slices.Equal([]string{all[0].ID, all[1].ID}, []string{leads.who, next.who}) {
					t.Fatalf("got participants %+v, %v, want %s, %s", all, err, leads.who, next.who)
				}
				end := leads.release()
				if got := wait.granted(); got.Ended < end.Began {
					t.Fatalf("%s leads beside %s", next.who, leads.who)
				}
				leads, next = next, leads
				w.awaitChildren(path, 1)
			}
			leads.release()
			w.awaitChildren(path, 0)
		})
	}
}

// selector makes an observer of an election.
func (w *world) selector(path string) *leader.LeaderSelector {
	w.t.Helper()
	client, err := framework.NewClient(w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = client.Close() })
	return leader.NewLeaderSelector(client, path)
}
