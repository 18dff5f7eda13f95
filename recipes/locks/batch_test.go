package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A lease of the contender's own client watches the leases. The creation of the contender's node has the directory
// listed again for that watch; until the answer comes, the watch has a listing without the node.
func TestContenderWhoseClientWatchesTheLeasesKeepsItsPlace(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		s := semaphore(p, 1)
		held := acquire(t, s)
		held.Contended()
		synctest.Wait()
		p.cable.SetLatency(oneWay)
		waiter := begin(t.Context(), t, s)
		time.Sleep(roundTrip)
		later := begin(t.Context(), t, semaphore(other, 1))
		time.Sleep(time.Minute)
		release(t, held)
		settle()
		isWaiting(t, later)
		release(t, soon(t, waiter).must(t))
		release(t, soon(t, later).must(t))
	})
}

// The limit rises while the directory is listed again after the creation of the second lease's node. The news comes on
// another connection, that of the count's client: otherwise the listing is answered first.
func TestContenderForSeveralLeasesKeepsItsPlaceWhenTheLimitRises(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, limited := newPeer(t, server), newLimited(t, server, 0)
		s := locks.NewInterProcessSemaphoreV2WithCount(p.Client, path, limited.count)
		both := &several{InterProcessSemaphoreV2: s, n: 2}
		waiter := begin(t.Context(), t, both)
		before := server.Counts()[zktest.OpCreate2]
		p.cable.SetLatency(oneWay)
		limited.setLimit(t, 1)
		time.Sleep(roundTrip + oneWay) // the node is made, and the listing on its way
		limited.setLimit(t, 2)
		soon(t, waiter).must(t)
		if got := server.Counts()[zktest.OpCreate2] - before; got != 1 {
			t.Errorf("got %d nodes made after the first raise, want 1", got)
		}
		wantErr(t, locks.ReleaseAll(both.leases...))
		wantEmpty(t, server)
	})
}
