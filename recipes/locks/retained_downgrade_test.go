package locks_test

import (
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// What becomes a reader keeps its place only if the writer's node goes.
func TestADowngradeIsNotHandedOver(t *testing.T) {
	for name, readFirst := range map[string]bool{"the reader stays": false, "the reader goes first": true} {
		t.Run(name, func(t *testing.T) {
			inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				rw := readWrite(p)
				write := acquire(t, rw.WriteLock().Retained())
				waiter := begin(t.Context(), t, rw.WriteLock().Retained())
				read := acquireIn(inside(t, write), t, rw.ReadLock())
				if readFirst {
					release(t, read)
				}
				release(t, write)
				if !readFirst {
					wantNodes(t, server, path, "__WRIT__", 1) // the waiter's
					isWaiting(t, waiter)
					isAlive(t, read)
					release(t, read)
				}
				wantOwnNode(t, write, soon(t, waiter).must(t))
			})
		})
	}
}

// The writer leaves while the reader's node is being made.
func TestADowngradeThatOverlapsTheReleaseIsNotHandedOver(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		rw := readWrite(newPeer(t, server))
		write := acquire(t, rw.WriteLock().Retained())
		waiter := begin(t.Context(), t, rw.WriteLock().Retained())
		goOn := server.HoldRequest(zktest.Match{Op: zktest.OpMulti})
		reader := begin(inside(t, write), t, rw.ReadLock())
		release(t, write)
		isWaiting(t, waiter)
		goOn()
		read := soon(t, reader).must(t)
		settle()
		isWaiting(t, waiter)
		release(t, read)
		wantOwnNode(t, write, soon(t, waiter).must(t))
	})
}

func TestReadersStayAsTheyAre(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		rw := readWrite(newPeer(t, server))
		first, second := acquire(t, rw.ReadLock()), acquire(t, rw.ReadLock())
		if first.NodeName() == second.NodeName() {
			t.Errorf("got one node %s for two readers, want two", first.NodeName())
		}
		// With AfterDemand the hand-over does not depend on whether the writer has heard of the reader by then.
		write := func() locks.Lock { return rw.WriteLock().Retained(locks.RetainAfterDemand(1)) }
		waiters := []<-chan result{begin(t.Context(), t, write()), begin(t.Context(), t, write()), begin(t.Context(), t, rw.ReadLock())}
		release(t, first)
		for _, waiter := range waiters {
			isWaiting(t, waiter)
		}
		release(t, second)
		before := soon(t, waiters[0]).must(t)
		release(t, before)
		next := soon(t, waiters[1]).must(t)
		wantHandedOver(t, before, next) // the reader came after it, but before it could have had a node of its own
		isWaiting(t, waiters[2])
		release(t, next)
		soon(t, waiters[2]).must(t)
	})
}

// G9: a writer that was given its node by another one of its client becomes a reader. The reader's pair of FencingToken
// and FencingCount must be greater than that of the other writer, and is not to be less than its own as a writer.
func TestAReaderKeepsTheFencingCountOfItsWrite(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		rw := readWrite(p)
		first := acquire(t, rw.WriteLock().Retained())
		waiter := begin(t.Context(), t, rw.WriteLock().Retained())
		release(t, first)
		second := soon(t, waiter).must(t)
		read := acquireIn(second.Context(t.Context()), t, rw.ReadLock())
		if second.FencingCount() != 1 {
			t.Fatalf("it was not handed over: %d", second.FencingCount())
		}
		if read.FencingToken() == first.FencingToken() && read.FencingCount() <= first.FencingCount() {
			t.Errorf("the reader has %d/%d, the writer before it %d/%d", read.FencingToken(), read.FencingCount(), first.FencingToken(), first.FencingCount())
		}
	})
}

// The answer to the downgrade is the first news of the removal, since the node of a short hold is not watched.
func TestDowngradeOfARetainedNodeThatWasRemovedLosesIt(t *testing.T) {
	inRetainedBubble(t, func(t *testing.T, server *zktest.Server) {
		rw := readWrite(newPeer(t, server))
		write := acquire(t, rw.WriteLock().Retained())
		next := begin(t.Context(), t, rw.WriteLock().Retained())
		must(t, server.Delete(path+"/"+write.NodeName()))
		_, err := rw.ReadLock().Acquire(write.Context(t.Context()))
		wantErr(t, err, locks.ErrLeaseLost)
		wantErr(t, err, locks.ErrRemoved)
		wantErr(t, write.Err(), locks.ErrRemoved)
		lease := soon(t, next).must(t)
		if lease.FencingToken() <= write.FencingToken() {
			t.Errorf("got token %d after %d, want a later node", lease.FencingToken(), write.FencingToken())
		}
		release(t, lease)
	})
}
