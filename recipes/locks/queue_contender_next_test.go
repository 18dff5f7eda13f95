package locks_test

import (
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// Contenders of different clients learn that they are next while the last one before them still holds the lock: once
// the event of the deletion of its node is there, nothing is asked any more.
func TestAHandoverBetweenClientsIsTheEventAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const clients = 5
		held := acquire(t, newPeer(t, server).mutex())
		var line []<-chan result
		var peers []*peer
		for range clients {
			p := newPeer(t, server)
			peers = append(peers, p)
			line = append(line, begin(t.Context(), t, p.mutex()))
			p.cable.SetLatency(oneWay)
		}
		for i, waiter := range line {
			time.Sleep(2 * roundTrip) // it holds for so long
			peers[i].link.Segments()
			begun := time.Now()
			release(t, held)
			r := soon(t, waiter)
			// The deletion of a client with latency is on its way for as long as the event.
			if took, want := r.at.Sub(begun), min(oneWay*time.Duration(i+1), roundTrip); took != want {
				t.Errorf("the hand-over to client %d took %v, want %v", i, took, want)
			}
			held = r.must(t)
			synctest.Wait()
			if got := peers[i].link.Requests(); len(got) != 0 {
				t.Errorf("client %d sent %v, want nothing", i, got)
			}
		}
		release(t, held)
	})
}

// A lock whose holders release at once passes on as fast as deletions and events travel: one round trip.
func TestALockPassesOnEachRoundTrip(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const clients, rounds = 4, 10
		begun := make(chan time.Time, clients)
		var wg sync.WaitGroup
		for range clients {
			p := warmPeer(t, server)
			wg.Go(func() {
				for range rounds {
					lease := acquire(t, p.mutex())
					begun <- time.Now()
					release(t, lease)
				}
			})
		}
		go func() { wg.Wait(); close(begun) }()
		var last time.Time
		slow := 0
		for at := range begun {
			if !last.IsZero() && at.Sub(last) > roundTrip {
				slow++
			}
			last = at
		}
		// Until the first has come back, it is not known who stands in the line.
		if slow > clients {
			t.Errorf("%d of %d hand-overs took longer than a round trip", slow, clients*rounds-1)
		}
	})
}

// warmPeer is a client with latency.
func warmPeer(t *testing.T, server *zktest.Server) *peer {
	t.Helper()
	p := newPeer(t, server)
	p.cable.SetLatency(oneWay)
	return p
}

// A newcomer at the end of a queue does not list it if its client knows the last node; but if another client has come
// in between, it is.
func TestALongLineIsNotListed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		held := acquire(t, newPeer(t, server).mutex())
		var line []<-chan result
		enter := func() { line = append(line, begin(t.Context(), t, p.mutex())) }
		for range 40 {
			enter()
		}
		p.link.Requests()
		enter()
		want := map[lockstest.Op]int{lockstest.Create: 1, lockstest.SetWatches: 1}
		if got := p.link.Requests(); !maps.Equal(got, want) {
			t.Errorf("the next one sent %v, want %v", got, want)
		}
		stranger := begin(t.Context(), t, newPeer(t, server).mutex())
		enter()
		if got := p.link.Requests(); got[lockstest.GetChildren] != 1 {
			t.Errorf("the one behind the stranger sent %v, it must list", got)
		}
		release(t, held)
		for _, waiter := range line[:41] {
			release(t, soon(t, waiter).must(t))
		}
		other := soon(t, stranger).must(t)
		isWaiting(t, line[41])
		release(t, other)
		release(t, soon(t, line[41]).must(t))
	})
}

// One after the other, through a client with latency: no listing stands between a release and the next lease.
func TestALongLineOfOneClientPassesOnByEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const waiters = 60
		p := newPeer(t, server)
		held := acquire(t, p.mutex())
		var line []<-chan result
		for range waiters {
			line = append(line, begin(t.Context(), t, p.mutex()))
		}
		p.cable.SetLatency(oneWay)
		p.link.Segments()
		for _, waiter := range line {
			begun := time.Now()
			go func(lease *locks.Lease) { _ = lease.Release() }(held)
			r := soon(t, waiter)
			if took := r.at.Sub(begun); took != roundTrip {
				t.Errorf("it took %v, want %v", took, roundTrip)
			}
			held = r.must(t)
		}
		release(t, held)
		if got, want := p.link.Requests(), (map[lockstest.Op]int{lockstest.Delete: waiters + 1}); !maps.Equal(got, want) {
			t.Errorf("they sent %v, want %v", got, want)
		}
	})
}

// A session that watches anything goes on asking its leader, and one that holds or waits a majority.
func TestNothingIsAskedWhenAllIsOver(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		second := begin(t.Context(), t, newPeer(t, server).mutex())
		p := newPeer(t, server)
		third := begin(t.Context(), t, p.mutex())
		release(t, held)
		release(t, soon(t, second).must(t))
		release(t, soon(t, third).must(t))
		time.Sleep(sessionTimeout)
		before := server.Counts()
		time.Sleep(10 * sessionTimeout)
		after := server.Counts()
		for _, op := range []zktest.Op{zktest.OpSync, zktest.OpMulti} {
			if n := after[op] - before[op]; n != 0 {
				t.Errorf("%d requests %v by clients that hold and wait for nothing", n, op)
			}
		}
	})
}
