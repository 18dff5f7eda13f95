package locks_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// What may happen to a lock that is entered without a listing, because no other client has used it for a while.

// busy returns a client that has used the lock so often that it need not list it any more.
func busy(t *testing.T, server *zktest.Server) *peer {
	t.Helper()
	p := warm(t, server)
	for range 20 {
		release(t, acquire(t, p.mutex()))
	}
	return p
}

func TestABusyLockThatAnotherClientHoldsIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := busy(t, server)
		held := acquire(t, newPeer(t, server).mutex())
		waiter := begin(t.Context(), t, p.mutex())
		time.Sleep(10 * roundTrip)
		isWaiting(t, waiter)
		release(t, held)
		release(t, soon(t, waiter).must(t))
	})
}

// The directory is deleted and created again, and so much happens in it that the next number is the one that the client
// expects. It hears of that while its new node is on its way.
func TestTheDirectoryOfABusyLockIsMadeAnew(t *testing.T) {
	for name, before := range map[string]func(*zktest.Server) error{
		"the watch is set":        func(*zktest.Server) error { return nil },
		"the watch has been used": func(server *zktest.Server) error { return server.SetData(path, []byte("changed")) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p, other := busy(t, server), newPeer(t, server)
				waiter := begin(t.Context(), t, p.mutex())
				must(t, before(server))
				held := takeAnew(t, server, other)
				time.Sleep(10 * roundTrip)
				isWaiting(t, waiter)
				release(t, held)
				release(t, soon(t, waiter).must(t))
			})
		})
	}
}

// The same while the client is not connected.
func TestTheDirectoryOfABusyLockIsMadeAnewUnheard(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := busy(t, server), newPeer(t, server)
		p.link.Cut()
		held := takeAnew(t, server, other)
		p.link.Heal()
		time.Sleep(500 * time.Millisecond)
		waiter := begin(t.Context(), t, p.mutex())
		time.Sleep(10 * roundTrip)
		isWaiting(t, waiter)
		release(t, held)
		release(t, soon(t, waiter).must(t))
	})
}

// takeAnew deletes the lock's directory, creates it again and acquires the lock. As many nodes will have been made in
// it as in the old one.
func takeAnew(t *testing.T, server *zktest.Server, p *peer) *locks.Lease {
	t.Helper()
	old, _ := server.Stat(path)
	must(t, errors.Join(server.Delete(path), server.Create(path, nil)))
	for range (old.Cversion+old.NumChildren)/2 - 1 {
		must(t, errors.Join(server.Create(path+"/stranger", nil), server.Delete(path+"/stranger")))
	}
	return acquire(t, p.mutex())
}

func TestABusyLockOutlivesAReconnection(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := busy(t, server)
		for range 5 {
			p.link.Reset()
			release(t, acquire(t, p.mutex()))
		}
	})
}

// The client's own contenders know of each other by their numbers.
func TestABusyLockKeepsItsOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := busy(t, server)
		held := acquire(t, p.mutex())
		var line []<-chan result
		for range 5 {
			line = append(line, begin(t.Context(), t, p.mutex()))
		}
		time.Sleep(roundTrip) // until their nodes are there
		stranger := begin(t.Context(), t, newPeer(t, server).mutex())
		last := begin(t.Context(), t, p.mutex())
		release(t, held)
		for i, waiter := range line {
			lease := soon(t, waiter).must(t)
			time.Sleep(10 * roundTrip)
			for _, later := range line[i+1:] {
				isWaiting(t, later)
			}
			isWaiting(t, stranger)
			isWaiting(t, last)
			release(t, lease)
		}
		lease := soon(t, stranger).must(t)
		isWaiting(t, last)
		release(t, lease)
		release(t, soon(t, last).must(t))
	})
}

// A writer of a busy lock becomes a reader: the next writer finds no listing, but must have one.
func TestABusyWriterThatReadsOn(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := warm(t, server)
		rw := locks.NewInterProcessReadWriteLock(p.Client, path)
		for range 20 {
			release(t, acquire(t, rw.WriteLock()))
		}
		write := acquire(t, rw.WriteLock())
		early := begin(t.Context(), t, rw.WriteLock())
		read := acquireIn(write.Context(t.Context()), t, rw.ReadLock())
		release(t, write)
		late := begin(t.Context(), t, rw.WriteLock())
		time.Sleep(10 * roundTrip)
		isWaiting(t, early)
		isWaiting(t, late)
		release(t, read)
		release(t, soon(t, early).must(t))
		release(t, soon(t, late).must(t))
	})
}

// There is no writer: a reader needs one round trip, however many readers there are.
func TestAReaderAmongManyNeedsOneRoundTrip(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		rw := locks.NewInterProcessReadWriteLock(p.Client, path)
		for range 40 {
			acquire(t, rw.ReadLock())
		}
		p.cable.SetLatency(oneWay)
		p.link.Requests()
		// One begins each half round trip: each finds the line that the one before it has listed.
		var line []<-chan result
		var begun []time.Time
		for range 6 {
			begun = append(begun, time.Now())
			line = append(line, begin(t.Context(), t, rw.ReadLock()))
			time.Sleep(roundTrip - 1)
		}
		for i, w := range line {
			r := soon(t, w)
			r.must(t)
			if took := r.at.Sub(begun[i]); took != roundTrip {
				t.Errorf("reader %d took %v, want %v", i, took, roundTrip)
			}
		}
		if got := p.link.Requests(); got[lockstest.GetChildren] > 1 {
			t.Errorf("they sent %v", got)
		}
	})
}

// Two locks of one client on one path; only one of them counts nodes "other-".
func TestLinesDifferByMarkers(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		release(t, acquire(t, p.mutex()))
		other := path + "/other-0000000001"
		must(t, server.Create(other, nil))
		first := acquire(t, newPeer(t, server).mutex())
		plain := begin(t.Context(), t, p.mutex()) // makes the line
		counting := begin(t.Context(), t, p.mutex(locks.WithExtraMarkers("other-")))
		release(t, first)
		lease := soon(t, plain).must(t) // "other-" is a stranger to it
		release(t, lease)
		time.Sleep(time.Second)
		isWaiting(t, counting)
		must(t, server.Delete(other))
		release(t, soon(t, counting).must(t))
	})
}

// The server takes away the empty container of a busy lock, as it may once a minute, in the moment between two holds.
func TestABusyLockWhoseDirectoryWentIsBusyAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := busy(t, server)
		must(t, server.Delete(path))
		for range 100 {
			release(t, acquire(t, p.mutex()))
			time.Sleep(10 * time.Millisecond)
		}
		p.link.Requests()
		for range 100 {
			release(t, acquire(t, p.mutex()))
			time.Sleep(10 * time.Millisecond)
		}
		if n := p.link.Requests()[lockstest.GetChildren]; n > 25 {
			t.Errorf("%d of 100 acquisitions listed the queue", n)
		}
	})
}

// What it takes to enter without a listing is counted again when another client has been there.
func TestALockThatTwoUseInTurnIsListed(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := busy(t, server), newPeer(t, server)
		for i := range 5 {
			release(t, acquire(t, other.mutex()))
			var lease *locks.Lease
			n := elapsed(t, func() { lease = acquire(t, p.mutex()) })
			if i > 0 && n != 1 {
				t.Errorf("it took %d round trips", n)
			}
			release(t, lease)
		}
	})
}
