package locks_test

import (
	"maps"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// holds takes a lock n times, with pauses for which its node is kept, and returns the last lease.
func holds(t *testing.T, lock locks.Lock, n int) (last *locks.Lease) {
	t.Helper()
	for range n {
		time.Sleep(idle / 2)
		last = acquire(t, lock)
		release(t, last)
	}
	return last
}

// asked counts what a server is asked while f runs.
func asked(server *zktest.Server, f func()) map[zktest.Op]int {
	before := server.Counts()
	f()
	sent := map[zktest.Op]int{}
	for op, n := range server.Counts() {
		if n -= before[op]; n > 0 {
			sent[op] = n
		}
	}
	return sent
}

// A client that takes the lock again and again keeps its node, and asks for no more than one that holds a lock.
func TestLoneClientKeepsItsNodeForTenMinutes(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		const span = 10 * time.Minute
		p := newPeer(t, server)
		held := acquire(t, p.mutex())
		time.Sleep(time.Second) // its node is watched
		want := asked(server, func() { time.Sleep(span) })
		release(t, held)
		lock, _ := idling(t, p)
		first := holds(t, lock, 20)
		const n = int(span / (idle / 2))
		last := first
		sent := asked(server, func() { last = holds(t, lock, n) })
		if got := last.LocalCount() - first.LocalCount(); got != int64(n) || last.NodeName() != first.NodeName() {
			t.Errorf("got the last of %d holds %d holds after the first, of nodes %s and %s, want one node",
				n, got, first.NodeName(), last.NodeName())
		}
		if !maps.Equal(sent, want) {
			t.Errorf("%d holds sent %v, want %v as one hold", n, sent, want)
		}
	})
}
