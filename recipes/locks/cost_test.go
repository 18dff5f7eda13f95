package locks_test

import (
	"errors"
	"maps"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

const (
	oneWay    = 5 * time.Millisecond
	roundTrip = 2 * oneWay
)

// warm returns a client with some latency whose lock directory exists and that has nothing left to do.
func warm(t *testing.T, server *zktest.Server) *peer {
	t.Helper()
	for _, dir := range []string{"/locks", path} { // by hand: a container would go again
		must(t, server.Create(dir, nil))
	}
	p := newPeer(t, server)
	p.cable.SetLatency(oneWay)
	p.link.Segments()
	return p
}

// elapsed is how long f takes, in round trips.
func elapsed(t *testing.T, f func()) int {
	t.Helper()
	begun := time.Now()
	f()
	took := time.Since(begun)
	if took%roundTrip != 0 {
		t.Errorf("it took %v, which is no whole number of round trips", took)
	}
	return int(took / roundTrip)
}

func TestAnUncontendedAcquireIsOneSegmentAndOneRoundTrip(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := warm(t, server)
		var lease *locks.Lease
		if n := elapsed(t, func() { lease = acquire(t, p.mutex()) }); n != 1 {
			t.Errorf("it took %d round trips", n)
		}
		segments := p.link.Segments()
		if len(segments) == 0 || !reflect.DeepEqual(segments[0], []lockstest.Op{lockstest.Create, lockstest.GetChildren}) {
			t.Errorf("it sent %v", segments)
		}
		if n := elapsed(t, func() { release(t, lease) }); n != 1 {
			t.Errorf("the release took %d round trips", n)
		}
	})
}

func TestACycleIsTwoRoundTripsAndThreeRequests(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := warm(t, server)
		const cycles = 5
		n := elapsed(t, func() {
			for range cycles {
				release(t, acquire(t, p.mutex()))
			}
		})
		if n != 2*cycles {
			t.Errorf("%d cycles took %d round trips", cycles, n)
		}
		time.Sleep(time.Second)
		want := map[lockstest.Op]int{
			lockstest.Create: cycles, lockstest.GetChildren: cycles, lockstest.Delete: cycles,
		}
		if got := p.link.Requests(); !maps.Equal(got, want) {
			t.Errorf("they sent %v, want %v", got, want)
		}
	})
}

// A lock that no other client has used for a while is not listed: the number of a new node shows that there is no
// other.
func TestACycleOfABusyLockIsTwoRequests(t *testing.T) {
	for name, lock := range map[string]func(*peer) locks.Lock{
		"mutex": func(p *peer) locks.Lock { return p.mutex() },
		"write": func(p *peer) locks.Lock { return locks.NewInterProcessReadWriteLock(p.Client, path).WriteLock() },
		"read":  func(p *peer) locks.Lock { return locks.NewInterProcessReadWriteLock(p.Client, path).ReadLock() },
	} {
		t.Run(name, func(t *testing.T) { aCycleIsTwoRequests(t, lock) })
	}
}

func aCycleIsTwoRequests(t *testing.T, lock func(*peer) locks.Lock) {
	t.Helper()
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := warm(t, server)
		cycle := func() { release(t, acquire(t, lock(p))) }
		for range 20 {
			cycle()
		}
		p.link.Requests()
		const cycles = 100
		n := elapsed(t, func() {
			for range cycles {
				cycle()
			}
		})
		if n != 2*cycles {
			t.Errorf("%d cycles took %d round trips", cycles, n)
		}
		want := map[lockstest.Op]int{lockstest.Create: cycles, lockstest.Delete: cycles}
		if got := p.link.Requests(); !maps.Equal(got, want) {
			t.Errorf("they sent %v, want %v", got, want)
		}
		if n := server.WatchCount(); n != 1 {
			t.Errorf("there are %d watches, want one, on the directory", n)
		}
		time.Sleep(2 * time.Second)
		if n := server.WatchCount(); n != 0 {
			t.Errorf("a while later there are %d watches", n)
		}
	})
}

// What a busy lock saves is lost again at most once for so many acquisitions: when another client comes, it has to be
// listed after all.
func TestABusyLockIsListedOnceWhenAnotherClientHasUsedIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := warm(t, server), newPeer(t, server)
		for range 20 {
			release(t, acquire(t, p.mutex()))
		}
		release(t, acquire(t, other.mutex()))
		for _, want := range []int{2, 1, 1} {
			var lease *locks.Lease
			if n := elapsed(t, func() { lease = acquire(t, p.mutex()) }); n != want {
				t.Errorf("it took %d round trips, want %d", n, want)
			}
			release(t, lease)
		}
	})
}

// Off the critical path, and only of holds that last.
func TestAHoldThatLastsWatchesItsOwnNode(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := warm(t, server)
		lease := acquire(t, p.mutex())
		time.Sleep(100 * time.Millisecond)
		if n := server.Watches(path + "/" + lease.NodeName()); n != 1 {
			t.Errorf("its node has %d watches", n)
		}
		if got, want := p.link.Requests()[lockstest.GetData], 1; got != want {
			t.Errorf("it was read %d times, want %d", got, want)
		}
	})
}

func TestTryAcquireOfATakenLockIsOneReadAndNoWrite(t *testing.T) {
	for name, lock := range map[string]struct{ taken, tried func(*peer) locks.Lock }{
		"mutex": {
			func(p *peer) locks.Lock { return p.mutex() }, func(p *peer) locks.Lock { return p.mutex() },
		},
		"write lock with a reader": {
			func(p *peer) locks.Lock { return readWrite(p).ReadLock() }, func(p *peer) locks.Lock { return readWrite(p).WriteLock() },
		},
	} {
		t.Run(name, func(t *testing.T) { tryATakenLock(t, lock.taken, lock.tried) })
	}
}

func tryATakenLock(t *testing.T, taken, tried func(*peer) locks.Lock) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		acquire(t, taken(newPeer(t, server)))
		p := newPeer(t, server)
		p.cable.SetLatency(oneWay)
		p.link.Segments()
		n := elapsed(t, func() {
			if lease, err := tried(p).TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
				t.Errorf("got %v, %v", lease, err)
			}
		})
		if got, want := p.link.Requests(), map[lockstest.Op]int{lockstest.GetChildren: 1}; n != 1 || !maps.Equal(got, want) {
			t.Errorf("it sent %v in %d round trips, want %v in one", got, n, want)
		}
	})
}

// From the deletion of the holder's node to the lease of the second in line: the event, and nothing else.
func TestAHandoverIsTheEventAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		p := newPeer(t, server)
		waiter := begin(t.Context(), t, p.mutex())
		p.cable.SetLatency(oneWay)
		p.link.Segments()
		release(t, held)
		begun := time.Now()
		r := soon(t, waiter)
		lease := r.must(t)
		if took := r.at.Sub(begun); took != oneWay {
			t.Errorf("it took %v, want %v", took, oneWay)
		}
		synctest.Wait()
		if got := p.link.Requests(); len(got) != 0 {
			t.Errorf("it sent %v, want nothing", got)
		}
		release(t, lease)
	})
}

// Contenders that share a client learn from each other's listings: the listing of a later one shows the earlier ones
// that all but one before them have left.
func TestContendersOfOneClientListOnlyWhenTheyEnter(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		const contenders, rounds = 5, 20
		p := newPeer(t, server)
		release(t, acquire(t, p.mutex()))
		p.cable.SetLatency(oneWay)
		p.link.Segments()
		before := p.link.Requests()[lockstest.GetChildren]
		var wg sync.WaitGroup
		for range contenders {
			wg.Go(func() {
				for range rounds {
					lease := acquire(t, p.mutex())
					time.Sleep(2 * roundTrip) // long enough for the previous holder to be back in the queue
					release(t, lease)
				}
			})
		}
		wg.Wait()
		// The first to come have seen more than one before them.
		if n := p.link.Requests()[lockstest.GetChildren] - before; n > contenders*rounds+contenders {
			t.Errorf("%d acquisitions took %d listings", contenders*rounds, n)
		}
	})
}

// Nothing is held or awaited: no sync is sent, only go-zookeeper's pings.
func TestAnIdleClientDoesNotAskTheLeader(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := warm(t, server)
		time.Sleep(10 * sessionTimeout)
		if got := p.link.Segments(); len(got) > 0 {
			t.Errorf("it sent %v", got)
		}
	})
}
