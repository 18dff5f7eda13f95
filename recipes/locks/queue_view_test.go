package locks_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// Rule 3, by the event alone. Each of these fails when one of its conditions is dropped.

// The contender's own node goes first, the one ahead right after it, before the client has heard of either.
func TestRule3NobodyIsAdmittedByAnEventOnANodeThatIsGone(t *testing.T) {
	isNotAdmittedOnADeadNode(t, func(*zktest.Server, string) error { return nil })
}

// A change of data uses up the watch on the contender's own node, so no event reports its removal right after.
func TestRule3NobodyIsAdmittedByAnEventWhileItsOwnWatchIsNotSet(t *testing.T) {
	isNotAdmittedOnADeadNode(t, func(server *zktest.Server, own string) error { return server.SetData(own, []byte("changed")) })
}

// isNotAdmittedOnADeadNode removes a waiter's node and then the holder's, after first has been done to the waiter's.
func isNotAdmittedOnADeadNode(t *testing.T, first func(server *zktest.Server, own string) error) {
	t.Helper()
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		p := newPeer(t, server)
		waiter := begin(t.Context(), t, p.mutex())
		isWaiting(t, waiter)
		dead := otherChild(server, held.NodeName())
		p.cable.SetLatency(oneWay)
		own := path + "/" + dead
		must(t, errors.Join(first(server, own), server.Delete(own), server.Delete(path+"/"+held.NodeName())))
		lease := soon(t, waiter).must(t)
		if lease.NodeName() == dead {
			t.Errorf("got an admission on %s, which had been removed; want another node", dead)
		}
		release(t, lease)
	})
}

// Two before it, and the nearer goes.
func TestRule3NobodyIsAdmittedByAnEventWithAnotherBeforeIt(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		held := acquire(t, p.mutex())
		second := begin(t.Context(), t, p.mutex())
		isWaiting(t, second)
		middle := otherChild(server, held.NodeName())
		third := begin(t.Context(), t, p.mutex())
		isWaiting(t, third)
		must(t, server.Delete(path+"/"+middle))
		isWaiting(t, third)
		release(t, held)
		release(t, soon(t, third).must(t))
		release(t, soon(t, second).must(t))
	})
}

// The writer becomes a reader while the next writer waits for its node.
func TestRule3NobodyIsAdmittedByTheEndOfAWriterThatReadsOn(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		rw := locks.NewInterProcessReadWriteLock(p.Client, path)
		write := acquire(t, rw.WriteLock())
		next := begin(t.Context(), t, locks.NewInterProcessReadWriteLock(newPeer(t, server).Client, path).WriteLock())
		isWaiting(t, next)
		read := acquireIn(write.Context(t.Context()), t, rw.ReadLock())
		release(t, write)
		synctest.Wait()
		isWaiting(t, next)
		release(t, read)
		release(t, soon(t, next).must(t))
	})
}
