package queue

import (
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// The session knows of the removal before it calls the watchers, one by one: the grant may be the last of them.
func TestRemovedNodeIsKnownBeforeItsGrantEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("any:2181", framework.WithDialer(server.NewLink().DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		q := New(Config{
			Source: client, Lock: "lock", Dir: "/lock", Marker: MutexMarker, Counts: LockMarkers(),
			Events: Events{Ended: func(_ *Grant, cause error) error { return cause }},
		})
		g, _, err := q.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Drop()
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
