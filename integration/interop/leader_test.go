//go:build linux

package interop_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// elections are the recipes that elect a leader.
var elections = []string{"selector", "latch"}

// Curator's LeaderSelector stands on its mutex, so a leader in Java and a holder of our mutex exclude each other.
func TestLeaderSelectorInJavaAndMutexExcludeEachOther(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{java, oldJava, earlier} {
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

// Participants in both languages lead in turn, fifty times, each behind the other. All of them, leading or not, list
// the same participants in the same order.
func TestElectionMixedOfBothLanguagesLeadsInOneQueue(t *testing.T) {
	const terms = 50
	w := newWorld(t)
	for _, recipe := range elections {
		for _, kind := range []string{java, oldJava, earlier} {
			t.Run(recipe+", "+kind, func(t *testing.T) {
				w := w.in(t)
				path := "/leader/" + name("e")
				order := godriver.Order{Recipe: recipe, Path: path}
				leads, next := w.contender(kind, order), w.contender(ours, order)
				observers := []*contender{w.contender(kind, order), w.contender(ours, order)}

				first := leads.acquire()
				if want := map[string]string{"selector": "-lock-", "latch": "-latch-"}[recipe]; !strings.Contains(first.Nodes[0], want) {
					t.Fatalf("got node %s, want one with %s", first.Nodes[0], want)
				}
				for range terms {
					wait := next.queue(path)
					for _, observer := range append(observers, leads) {
						w.wantParticipants(observer, leads.who, next.who)
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
				w.wantParticipants(observers[0])
				w.wantParticipants(observers[1])
			})
		}
	}
}

// wantParticipants asks a participant, or an observer, who stands for election.
func (w *world) wantParticipants(observer *contender, want ...string) {
	w.t.Helper()
	got := w.done(observer.process, observer.order("report"))
	if !slices.Equal(got.IDs, want) || got.Owned != (len(want) > 0) {
		w.t.Fatalf("%s lists %v, the first one leads: %t; want %v", observer.who, got.IDs, got.Owned, want)
	}
}

// A leader is frozen until its session is over, and a participant in the other language leads. At its first look after
// the thaw ours says that it does not lead. Curator's says that it leads until its client has heard of the loss.
func TestFrozenLeaderIsSucceededByTheOtherLanguage(t *testing.T) {
	w := newWorld(t)
	for _, recipe := range elections {
		for _, pair := range [][2]string{{ours, java}, {java, ours}, {ours, earlier}, {earlier, ours}} {
			t.Run(recipe+", "+pair[0]+" is frozen", func(t *testing.T) {
				t.Parallel()
				w := w.in(t)
				path := "/frozen/" + name("e")
				order := godriver.Order{Recipe: recipe, Path: path}
				process := w.fresh(pair[0], fleet.dispatch)
				frozen := w.mortal(8*time.Second).clientIn(process, pair[0], w.addr).contender(order)
				next := w.contender(pair[1], order)
				frozen.acquire()
				wait := next.queue(path)
				process.Freeze(t)
				got := wait.granted()
				thawed := godriver.Now()
				process.Thaw(t)

				report := w.done(process, frozen.order("report"))
				looked := time.Duration(report.Ended - thawed).Round(10 * time.Microsecond)
				t.Logf("first look %v after the thaw: leads: %t", looked, report.Acquired)
				if pair[0] != java && report.Acquired {
					t.Error("the leader that was frozen believes to lead")
				}
				if pair[0] != java {
					released := w.done(process, frozen.order("release"))
					if released.Valid == 0 || released.Valid > got.Ended {
						t.Errorf("the term ended %v after the next one began", time.Duration(released.Valid-got.Ended))
					}
				} else {
					ended := w.awaitEvent(frozen.who, frozen.events, "released")
					t.Logf("Curator's leader hears of the end %v after the thaw", time.Duration(ended.Began-thawed).Round(10*time.Microsecond))
				}
				next.release()
			})
		}
	}
}

// awaitEvent waits for an event of a contender or a client.
func (w *world) awaitEvent(who string, events <-chan godriver.Answer, event string) godriver.Answer {
	w.t.Helper()
	for limit := time.After(patience); ; {
		select {
		case a := <-events:
			if a.Event == event {
				return a
			}
		case <-limit:
			await.Fatalf(w.t, "%s to report %q", who, event)
		}
	}
}
