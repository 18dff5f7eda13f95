package locks_test

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/steps"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

func wantContended(t *testing.T, lease *locks.Lease, want bool) {
	t.Helper()
	contended := lease.Contended()
	synctest.Wait()
	got := false
	select {
	case <-contended:
		got = true
	default:
	}
	if got != want {
		t.Errorf("contended: got %v, want %v", got, want)
	}
}

// The first call lists the directory and watches it; the watch is taken off when a contender was heard of.
func TestContendedIsOneListingAndOneWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lease := acquire(t, p.mutex())
		p.link.Requests()
		for range 3 {
			wantContended(t, lease, false)
		}
		if got, want := p.link.Requests(), map[lockstest.Op]int{lockstest.GetChildren: 1}; !maps.Equal(got, want) {
			t.Errorf("three calls sent %v, want %v", got, want)
		}
		watches := server.WatchCount()
		waiter := begin(t.Context(), t, other.mutex())
		wantContended(t, lease, true)
		if got, want := p.link.Requests()[lockstest.GetChildren], 1; got != want {
			t.Errorf("one event is followed by %d listings, want %d", got, want)
		}
		if got, want := server.WatchCount(), watches-1+2; got != want { // the contender's own two
			t.Errorf("got %d watches, want %d", got, want)
		}
		release(t, lease)
		soon(t, waiter).must(t)
	})
}

func TestLeaseThatIsNotAskedListensToNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lease := acquire(t, p.mutex())
		time.Sleep(time.Second) // its own node is watched
		p.link.Requests()
		waiter := begin(t.Context(), t, other.mutex())
		if sent := p.link.Requests(); len(sent) > 0 {
			t.Errorf("a contender came, and the holder sent %v, want nothing", sent)
		}
		release(t, lease)
		soon(t, waiter).must(t)
	})
}

func TestReaderIsContendedByWritersAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		reader := acquire(t, readWrite(p).ReadLock())
		wantContended(t, reader, false)
		acquire(t, readWrite(other).ReadLock())
		wantContended(t, reader, false)
		begin(t.Context(), t, readWrite(other).WriteLock())
		wantContended(t, reader, true)
	})
}

func TestWriterIsNotContendedByTheReaderThatItBecomes(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		writer := acquire(t, readWrite(p).WriteLock())
		wantContended(t, writer, false)
		reader := acquireIn(inside(t, writer), t, readWrite(p).ReadLock())
		wantContended(t, writer, false)
		wantContended(t, reader, false)
		begin(t.Context(), t, readWrite(other).ReadLock())
		wantContended(t, writer, true)
		wantContended(t, reader, false)
	})
}

func TestContendedOfASemaphoreWhoseLimitIsLowered(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newLimited(t, server, 2)
		held := []*locks.Lease{acquire(t, p), acquire(t, p)}
		for _, lease := range held {
			wantContended(t, lease, false)
		}
		p.setLimit(t, 1)
		for _, lease := range held {
			wantContended(t, lease, true)
		}
	})
}

// The limit is lowered after the lease has looked at the directory, and before it hears of limits: the directory does
// not change, and the count has called its listeners.
func TestContendedHearsOfALimitThatIsLoweredWhileItBeginsToListen(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newLimited(t, server, 2)
		held := acquire(t, p)
		acquire(t, p)
		lowered := false
		p.meanwhile(steps.Listening, func(steps.Step) { p.setLimit(t, 1); lowered = true })
		wantContended(t, held, true)
		if !lowered {
			t.Error("got no step of a lease that listens, want one")
		}
	})
}

// The client watches the directory already, for a lease that the contender does not conflict with. So the call asks
// nothing, and no answer brings the news.
func TestContendedHearsOfAnEarlierContenderInADirectoryThatIsWatched(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		writer := acquire(t, readWrite(p).WriteLock())
		reader := acquireIn(inside(t, writer), t, readWrite(p).ReadLock())
		wantContended(t, reader, false)
		begin(t.Context(), t, readWrite(other).ReadLock())
		p.link.Requests()
		wantContended(t, writer, true)
		if sent := p.link.Requests(); len(sent) > 0 {
			t.Errorf("the call sent %v, want nothing", sent)
		}
		wantContended(t, reader, false)
	})
}

func TestMultiLockIsContendedAtAnyPart(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lease := acquire(t, locks.NewInterProcessMultiLockWithPaths(p.Client, []string{"/a", "/b"}))
		wantContended(t, lease, false)
		begin(t.Context(), t, locks.NewInterProcessMutex(other.Client, "/b"))
		wantContended(t, lease, true)
		wantContended(t, lease.Parts()[0], false)
		wantContended(t, lease.Parts()[1], true)
	})
}

// What may not be listed is not heard of, and asking does no harm.
func TestContendedWithoutTheRightToRead(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p, other := newPeer(t, server), newPeer(t, server)
		lease := acquire(t, p.mutex())
		for _, perms := range []int32{zk.PermAll &^ zk.PermRead, zk.PermAll} {
			if _, err := other.SetACL(t.Context(), path, zk.WorldACL(perms), -1); err != nil {
				t.Fatal(err)
			}
			wantContended(t, lease, false)
		}
		begin(t.Context(), t, other.mutex())
		wantContended(t, lease, false)
		isAlive(t, lease)
	})
}
