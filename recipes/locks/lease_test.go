package locks_test

import (
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// One lease of a hold is released; the hold goes on with the other, and is lost later.
func TestErrOfAReleasedLeaseStaysWhenItsHoldIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := p.mutex()
		first := acquire(t, mutex)
		second := acquireIn(first.Context(t.Context()), t, mutex)
		release(t, first)
		expire(server, sessionID(t, p))
		<-second.Done()
		synctest.Wait()
		wantErr(t, first.Err(), locks.ErrReleased)
		wantErr(t, second.Err(), locks.ErrLeaseLost)
	})
}

// The time of a lease is up, and no timer has fired. A context that is made now has ended, before a look at its Err.
func TestContextOfALeaseWhoseTimeIsUpHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		var lease *locks.Lease
		overdue(t, server, func(_ *peer, l *locks.Lease) { lease = l })
		isClosed(t, "a new context", lease.Context(t.Context()).Done())
	})
}
