package queue

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// acquired is a mutex's grant, and the server that has its node.
func acquired(t *testing.T) (*zktest.Server, *Grant) {
	t.Helper()
	server := zktest.New(t)
	client, err := framework.NewClient("any:2181", framework.WithDialer(server.NewLink().DialContext))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	q := New(Config{
		Source: client, Lock: "lock", Dir: "/lock", Marker: MutexMarker, Counts: LockMarkers(),
		Events: Events{Ended: func(_ *Grant, cause error) error { return cause }},
	})
	g, _, err := q.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Drop)
	return server, g
}

// The session knows of the removal before it calls the watchers, one by one: the grant may be the last of them.
func TestRemovedNodeIsKnownBeforeItsGrantEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server, g := acquired(t)
		deaf := g.Session.WatchData(g.Node, func() {})
		defer deaf.Stop()
		g.ownWatch().Stop()
		g.selfWatch.Store(deaf) // the grant's turn never comes
		synctest.Wait()
		for _, want := range []bool{false, true} {
			if want {
				if err := server.Delete(g.Node); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			if got := g.Removed(); got != want || g.Err() != nil {
				t.Errorf("got removed %t, a grant that ended with %v; want %t, and a grant that lasts", got, g.Err(), want)
			}
		}
	})
}

// A lapsed binding has ended by the clock, and its call is still on its way.
type lapsed struct{ session.Binding }

func (lapsed) Err() error { return session.ErrNotRenewed }

// A process that was stopped may hear that its node is gone, with its session, before its clock runs.
func TestAGrantWhoseTimeIsUpWasNotRemovedByHand(t *testing.T) {
	for name, want := range map[string]error{"the time is up": session.ErrNotRenewed, "the time is not up": ErrRemoved} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server, g := acquired(t)
				time.Sleep(time.Minute) // the watch is deferred
				if !errors.Is(want, ErrRemoved) {
					g.mu.Lock()
					g.binding = lapsed{g.binding}
					g.mu.Unlock()
				}
				if err := server.Delete(g.Node); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				g.mu.Lock()
				got := g.cause
				g.mu.Unlock()
				if !errors.Is(got, want) {
					t.Errorf("got a grant that ended with %v, want %v", got, want)
				}
			})
		})
	}
}
